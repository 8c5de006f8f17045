# Loads a journal with PyPI's Optuna and writes its studies as JSON: python3 optuna_trials.py JOURNAL OUT
import json
import sys

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

storage = JournalStorage(JournalFileBackend(sys.argv[1]))
studies = {}
for name in optuna.get_all_study_names(storage):
    study = optuna.load_study(study_name=name, storage=storage)
    studies[name] = {
        "direction": study.direction.name,
        "metric": study.metric_names[0],
        "trials": [{
            "number": t.number, "state": t.state.name, "value": t.value, "params": t.params, "attributes": t.user_attrs,
            "reports": {str(step): value for step, value in t.intermediate_values.items()},
            "inside": all(d._contains(d.to_internal_repr(t.params[p])) for p, d in t.distributions.items()),
            "seconds": t.datetime_complete and t.duration.total_seconds(),
        } for t in study.trials],
    }
    if "--go-on" in sys.argv:  # Optuna continues the study, with parameters from the ranges that the journal has
        space = study.trials[0].distributions
        for _ in range(2):
            trial = study.ask(space)
            study.tell(trial, 0.5)
with open(sys.argv[2], "w") as file:
    json.dump(studies, file)
