"""probe.py RESULT [PROJECT...]: what a Python environment is, for `rocsmith test`: its version, its torch, the GPUs that this
torch sees, and where these projects are installed. RESULT gets one JSON object. Without a torch, its part is empty."""
import importlib.metadata
import importlib.util
import json
import os
import platform
import sys

result, *projects = sys.argv[1:]
found = {"python": ".".join(platform.python_version_tuple()[:2]), "executable": sys.executable, "torch": "", "hip": "",
    "cuda": "", "error": "", "devices": [], "installed": [], "pytest": ""}
for project in [*projects, "pytest"]:
    try:
        distribution = importlib.metadata.distribution(project)
    except importlib.metadata.PackageNotFoundError:
        continue
    if project == "pytest":
        found["pytest"] = distribution.version
    else:
        found["installed"].append({"name": project, "version": distribution.version,
            "site": os.path.abspath(distribution.locate_file(""))})
try:
    import torch
    found["torch"] = str(torch.__version__)
    found["hip"], found["cuda"] = (str(getattr(torch.version, key, None) or "") for key in ("hip", "cuda"))
    if torch.cuda.is_available():
        for index in range(torch.cuda.device_count()):
            device = torch.cuda.get_device_properties(index)
            target = getattr(device, "gcnArchName", "") if found["hip"] else f"sm_{device.major}{device.minor}"
            found["devices"].append({"target": target, "name": device.name})
except ModuleNotFoundError as error:
    found["error"] = "" if error.name == "torch" else str(error)
except Exception as error:  # a torch that cannot be loaded here
    found["error"] = f"{type(error).__name__}: {error}"
with open(result, "w", encoding="utf-8") as file:
    json.dump(found, file)
