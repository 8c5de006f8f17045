"""allRank's loss functions alone: what the package imports around them is not needed."""
import sys
import types

for name, parts in (("data.dataset_loading", {"PADDED_Y_VALUE": -1}), ("utils.file_utils", {"is_gs_path": None, "copy_file_to_local": None})):
    module = types.ModuleType("allrank." + name)
    module.__dict__.update(parts)
    sys.modules["allrank." + name] = module
from allrank.models import losses  # noqa: E402,F401
from allrank.models.losses import lambdaLoss  # noqa: E402,F401
