__version__ = '2.99.0'
