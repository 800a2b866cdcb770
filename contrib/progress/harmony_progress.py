"""Tells Slurm from inside a job how far its training has come: `harmony progress` for Python 3.7 and later.

    import harmony_progress

    harmony_progress.report(epoch=3, of=90, loss=0.41)

Nothing but the standard library is needed; torch, lightning and keras are not imported before they are asked for. The
`harmony` command is looked for in PATH, or is what the environment variable HARMONY_COMMAND names.

Cheap enough for every step: at most every 10 seconds the command is started, by a thread that waits for it; all other
calls only look at a clock, and a loss that is a tensor is not even read. Nothing that goes wrong raises an exception or
stops the training. Outside a job, in tasks other than task 0 and in PS, all calls do nothing.
"""

import math
import os
import subprocess
import sys
import threading
import time

__all__ = ["report", "Progress", "batches"]  # LightningProgress and KerasProgress by their names only

INTERVAL_S = 10.0
LONGEST_WAIT_S = 30.0


def _is_ours_to_report():
    environment = os.environ
    if not environment.get("SLURM_JOB_ID") or environment.get("HARMONY_ROLE") == "ps":
        return False
    return environment.get("SLURM_PROCID") in (None, "", "0") and _torch_rank() == 0


def _torch_distributed():
    """torch.distributed if the program uses it; one Slurm task may have several of its processes (torchrun)."""
    distributed = sys.modules.get("torch.distributed")
    try:
        return distributed if distributed and distributed.is_available() and distributed.is_initialized() else None
    except Exception:
        return None


def _torch_rank():
    distributed = _torch_distributed()
    return distributed.get_rank() if distributed else 0


def _world_size():
    distributed = _torch_distributed()
    return distributed.get_world_size() if distributed else 1


def _number(value, least, most):
    """The command's text of a figure; None for what it would not take: a loss may well be infinite."""
    try:
        value = float(value)
    except Exception:
        return None
    return "%.9g" % value if math.isfinite(value) and least <= value <= most else None


def _words(epoch, of, samples_per_s, loss, wait):
    words = [os.environ.get("HARMONY_COMMAND") or "harmony", "progress", "--quiet", "--epoch", epoch]
    if wait:
        words.append("--wait")
    for option, value, least, most in (
        ("--of", of, 0, 1e6),
        ("--samples-per-s", samples_per_s, 0, 1e9),
        ("--loss", loss, -1e9, 1e9),
    ):
        text = None if value is None else _number(value, least, most)
        if text is not None:
            words.append(option + "=" + text)  # so that a negative loss is no option
    return words


def _run(words):
    """True if the command says that it was reported."""
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=True,
        )
        return process.wait() == 0
    except Exception:
        return False


class Progress:
    """Reports of one training program. Any thread may call; close() it, or use it in a with statement."""

    def __init__(self, of=None):
        self._of = of
        self._lock = threading.Lock()
        self._thread = None
        self._next = 0.0
        self._latest = None  # what was not sent yet: epoch, samples_per_s, loss

    def report(self, epoch, samples_per_s=None, loss=None, of=None):
        """epoch: how many are done, such as 3.25. samples_per_s: of all tasks together. True if a report was begun."""
        try:
            with self._lock:
                self._keep(epoch, samples_per_s, loss, of)
                return self._start(wait=False)
        except Exception:
            return False

    def close(self):
        """Sends what was not sent yet, and waits for that, 30 seconds at most. Further reports are possible."""
        try:
            end = time.monotonic() + LONGEST_WAIT_S
            self._join(end)
            with self._lock:
                self._start(wait=True)
            self._join(end)
        except Exception:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def _keep(self, epoch, samples_per_s, loss, of):
        if of is not None:
            self._of = of
        if callable(getattr(loss, "detach", None)):
            loss = loss.detach()  # kept for some steps, and what it was computed from must not be
        before = self._latest or (None, None, None)
        self._latest = (
            epoch,
            before[1] if samples_per_s is None else samples_per_s,
            before[2] if loss is None else loss,
        )

    def _start(self, wait):
        now = time.monotonic()
        if self._latest is None or (now < self._next and not wait):
            return False
        if self._thread is not None and self._thread.is_alive():
            return False
        if not _is_ours_to_report():
            self._latest, self._next = None, now + INTERVAL_S
            return False
        epoch, samples_per_s, loss = self._latest
        self._latest, self._next = None, now + INTERVAL_S
        epoch = _number(epoch, 0, 1e6)
        if epoch is None:
            return False
        words = _words(epoch, self._of, samples_per_s, loss, wait)
        self._thread = threading.Thread(target=_run, args=(words,), name="harmony-progress", daemon=True)
        self._thread.start()
        return True

    def _join(self, end):
        thread = self._thread
        if thread is not None:
            thread.join(max(0.0, end - time.monotonic()))


_reports = Progress()


def report(epoch, of=None, samples_per_s=None, loss=None, wait=False):
    """One report of this program. `wait`, for the last one: returns when it was sent. True if a report was begun."""
    begun = _reports.report(epoch, samples_per_s=samples_per_s, loss=loss, of=of)
    if wait:
        _reports.close()
    return begun


def batches(loader, epochs, start=0, samples_per_batch=None, progress=None):
    """A plain loop over a PyTorch DataLoader, or anything that can be gone through once an epoch:

        for epoch, batch in harmony_progress.batches(loader, epochs=90):
            ...

    samples_per_batch: of this process; by default the loader's batch_size.
    """
    own = Progress(of=epochs) if progress is None else progress
    if samples_per_batch is None:
        samples_per_batch = getattr(loader, "batch_size", None)
    try:
        steps = len(loader)
    except Exception:
        steps = 0
    meter = _Meter(own, samples_per_batch)
    try:
        for epoch in range(start, epochs):
            set_epoch = getattr(getattr(loader, "sampler", None), "set_epoch", None)
            if callable(set_epoch):
                set_epoch(epoch)
            for step, batch in enumerate(loader, 1):
                yield epoch, batch
                meter.step(epoch + (min(1.0, step / steps) if steps else 0.0))
            meter.epoch(epoch + 1)
    finally:
        if progress is None:
            own.close()


class _Meter:
    """Samples per second over the last few seconds."""

    def __init__(self, progress, samples_per_batch=None):
        self._progress, self._samples = progress, samples_per_batch
        self._begin, self._batches, self._speed = time.monotonic(), 0, None

    def step(self, epoch, loss=None):
        self._batches += 1
        elapsed = time.monotonic() - self._begin
        if self._samples and elapsed >= 5.0:
            self._speed = self._batches * self._samples * _world_size() / elapsed
            self._begin, self._batches = time.monotonic(), 0
        self._progress.report(epoch, samples_per_s=self._speed, loss=loss)

    def epoch(self, epoch, loss=None):
        self._progress.report(epoch, samples_per_s=self._speed, loss=loss)


def _first_module(*names):
    """The one that the program has imported, else the first that is installed."""
    import importlib

    for name in sorted(names, key=lambda each: each not in sys.modules):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise ImportError("harmony_progress: none of these modules is installed: " + ", ".join(names))


def _make_lightning_progress():
    lightning = _first_module("lightning.pytorch", "pytorch_lightning")

    class LightningProgress(lightning.Callback):
        """Trainer(callbacks=[harmony_progress.LightningProgress()])"""

        def __init__(self, samples_per_batch=None):
            super().__init__()
            self._samples, self._progress, self._meter = samples_per_batch, None, None

        def on_train_start(self, trainer, pl_module):
            epochs = trainer.max_epochs
            self._progress = Progress(of=epochs if epochs and epochs > 0 else None)
            self._meter = _Meter(self._progress, self._samples)

        def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, *more):
            if self._meter is None or not trainer.is_global_zero:
                return
            steps = trainer.num_training_batches
            part = min(1.0, (batch_idx + 1) / steps) if steps and math.isfinite(steps) else 0.0
            loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
            self._meter.step(trainer.current_epoch + part, loss=loss)

        def on_train_epoch_end(self, trainer, pl_module):
            if self._meter is not None and trainer.is_global_zero:
                self._meter.epoch(trainer.current_epoch + 1)

        def on_train_end(self, trainer, pl_module):
            if self._progress is not None and trainer.is_global_zero:
                self._progress.close()

    return LightningProgress


def _make_keras_progress():
    names = ("tensorflow.keras.callbacks", "keras.callbacks")
    callbacks = _first_module(*(names if "tensorflow" in sys.modules else reversed(names)))

    class KerasProgress(callbacks.Callback):
        """model.fit(..., callbacks=[harmony_progress.KerasProgress(samples_per_batch=32)])"""

        def __init__(self, samples_per_batch=None):
            super().__init__()
            self._samples, self._progress, self._meter, self._epoch = samples_per_batch, None, None, 0

        def on_train_begin(self, logs=None):
            self._progress = Progress(of=(self.params or {}).get("epochs"))
            self._meter = _Meter(self._progress, self._samples)

        def on_epoch_begin(self, epoch, logs=None):
            self._epoch = epoch

        def on_train_batch_end(self, batch, logs=None):
            if self._meter is None:
                return
            steps = (self.params or {}).get("steps")
            part = min(1.0, (batch + 1) / steps) if steps else 0.0
            self._meter.step(self._epoch + part, loss=(logs or {}).get("loss"))

        def on_epoch_end(self, epoch, logs=None):
            if self._meter is not None:
                self._meter.epoch(epoch + 1, loss=(logs or {}).get("loss"))

        def on_train_end(self, logs=None):
            if self._progress is not None:
                self._progress.close()

    return KerasProgress


_made_when_asked_for = {"LightningProgress": _make_lightning_progress, "KerasProgress": _make_keras_progress}


def __getattr__(name):
    if name not in _made_when_asked_for:
        raise AttributeError("module 'harmony_progress' has no attribute " + repr(name))
    made = _made_when_asked_for[name]()
    globals()[name] = made
    return made
