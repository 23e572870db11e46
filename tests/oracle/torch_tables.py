"""torch_tables.py TORCH-DUMP FOLDER: compares the maps that rocsmith reads from FOLDER/torch with
those that the original modules hold after Python imported them. The maps must be equal in keys,
values and order; the table and line of each pair must be where Python's own parser sees that pair.
Prints one TAP-like line for each kind of map.
"""
import ast
import importlib
import json
import pathlib
import subprocess
import sys
import types
import warnings

dump, folder = sys.argv[1], pathlib.Path(sys.argv[2])
warnings.simplefilter("ignore")


def original(folder):
    """The module hipify_python as it is after import, as part of a package of its own."""
    for name, path in (("torch", "torch"), ("torch.utils", "torch/utils"), ("torch.utils.hipify", "torch/utils/hipify")):
        package = types.ModuleType(name)
        package.__path__ = [str(folder / path)]
        sys.modules[name] = package
    sys.modules["torch.utils.hipify"].__version__ = "0"
    return importlib.import_module("torch.utils.hipify.hipify_python")


def pair_places(folder):
    """(table, key) -> lines of the pairs' keys, by Python's parser."""
    places = {}
    tree = ast.parse((folder / "torch/utils/hipify/cuda_to_hip_mappings.py").read_text())
    for statement in tree.body:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
            continue
        if not statement.value.args or not isinstance(statement.value.args[0], ast.List):
            continue
        for pair in statement.value.args[0].elts:
            key = pair.elts[0]
            places.setdefault((statement.targets[0].id, key.value), []).append(key.lineno)
    return places


def compare(what, ours, theirs, places):
    pairs = [(row[0], row[1]) for row in ours]
    wrong = [(row[2], row[0], row[3]) for row in ours
        if row[3] != places.get((row[2], row[0]), [None])[-1]]
    if pairs == list(theirs.items()) and not wrong:
        print(f"ok {what}: {len(pairs)} pairs")
        return True
    print(f"not ok {what}")
    print(f"  ours {len(pairs)}, theirs {len(theirs)}")
    for a, b in zip(pairs, theirs.items()):
        if a != b:
            print(f"  first difference: ours {a}, theirs {b}")
            break
    for row in wrong[:3]:
        print(f"  wrong place: {row}")
    return False


ours = json.loads(subprocess.run([dump, folder], check=True, stdout=subprocess.PIPE).stdout)
module = original(folder)
mappings = sys.modules["torch.utils.hipify.cuda_to_hip_mappings"]
name = ours["version"]
places = pair_places(folder)
good = [
    compare(f"{name} names", ours["names"], module.PYTORCH_MAP, places),
    compare(f"{name} special", ours["special"], getattr(module, "PYTORCH_SPECIAL_MAP", {}), places),
    compare(f"{name} caffe2", ours["caffe2"], getattr(module, "CAFFE2_MAP", {}), places),
    compare(f"{name} paths", ours["paths"], getattr(mappings, "CAFFE2_PATH_MAPPINGS", {}), places),
    compare(f"{name} math", ours["math"], mappings.MATH_TRANSPILATIONS, places),
]
v1 = hasattr(module, "CAFFE2_MAP")
if not ours["known"] or ours["generation"] != (1 if v1 else 2):
    print(f"not ok {name} fingerprint: {ours['fingerprint']}, known: {ours['known']}, generation {ours['generation']}")
    good.append(False)
else:
    print(f"ok {name} fingerprint: generation {ours['generation']}")
predicate = getattr(module, "is_pytorch_file", None)
if v1 and predicate("third_party/fbgemm/x.cu") != ours["fbgemm"]:
    print(f"not ok {name} third_party/fbgemm")
    good.append(False)
sys.exit(not all(good))
