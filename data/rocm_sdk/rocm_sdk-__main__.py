"""python3 -m rocm_sdk"""
from . import main

main()
