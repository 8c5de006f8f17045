"""A study of empty trials by Optuna with a journal file. Usage: study.py optuna trials=2000 path=/tmp/study"""
import os
import tempfile

import optuna
import turns
from optuna.storages.journal import JournalFileBackend

optuna.logging.set_verbosity(optuna.logging.ERROR)
_, o = turns.options()


def work():
    with tempfile.TemporaryDirectory(dir=os.path.dirname(o["path"])) as folder:
        storage = optuna.storages.JournalStorage(JournalFileBackend(os.path.join(folder, "journal")))
        study = optuna.create_study(storage=storage, sampler=optuna.samplers.RandomSampler(1))
        study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=o["trials"])


turns.take(work, warm=False)
