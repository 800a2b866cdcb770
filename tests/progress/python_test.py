#!/usr/bin/env python3
"""Promises of contrib/progress/harmony_progress.py; the command, keras, lightning and torch are stand-ins."""

import importlib
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest

sys.dont_write_bytecode = True
FOLDER = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "contrib", "progress")
sys.path.insert(0, FOLDER)

COMMAND = """#!/bin/sh
echo "$*" >>"$SAID"
sleep "$SLEEPS"
"""


class Loss:
    """A tensor: reading it is dear, so it is counted."""

    def __init__(self, value):
        self.value, self.read, self.detached = value, 0, 0

    def __float__(self):
        self.read += 1
        return self.value

    def detach(self):
        self.detached += 1
        return self


class ProgressTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        command = os.path.join(self.directory.name, "harmony")
        with open(command, "w") as file:
            file.write(COMMAND)
        os.chmod(command, stat.S_IRWXU)
        self.said_file = os.path.join(self.directory.name, "said")
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        os.environ.update(
            PATH=self.directory.name + ":" + os.environ["PATH"],
            SAID=self.said_file,
            SLEEPS="0",
            SLURM_JOB_ID="17",
            SLURM_PROCID="0",
        )
        for name in ("HARMONY_ROLE", "HARMONY_COMMAND"):
            os.environ.pop(name, None)
        sys.modules.pop("harmony_progress", None)
        self.module = importlib.import_module("harmony_progress")
        self.module.INTERVAL_S = 0.3

    def said(self):
        try:
            with open(self.said_file) as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def await_calls(self, count):
        end = time.monotonic() + 10
        while len(self.said()) < count and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(count, len(self.said()), self.said())

    def stand_in(self, name, **contents):
        """A module `name` and those above it, until the test is over."""
        parts = name.split(".")
        for depth in range(1, len(parts) + 1):
            path = ".".join(parts[:depth])
            if path not in sys.modules:
                sys.modules[path] = types.ModuleType(path)
                sys.modules[path].__path__ = []
                self.addCleanup(sys.modules.pop, path, None)
        for key, value in contents.items():
            setattr(sys.modules[name], key, value)

    def test_a_report_starts_the_command(self):
        self.assertTrue(self.module.report(3, of=90, samples_per_s=812, loss=-0.25))
        self.await_calls(1)
        self.assertEqual(["progress --quiet --epoch 3 --of=90 --samples-per-s=812 --loss=-0.25"], self.said())

    def test_calls_in_between_are_cheap_and_merged(self):
        progress = self.module.Progress(of=90)
        self.assertTrue(progress.report(0))
        begin = time.monotonic()
        loss = Loss(0.5)
        for step in range(1000):
            progress.report(step / 1000, loss=loss)
        self.assertLess(time.monotonic() - begin, 0.25)
        self.assertEqual(0, loss.read)
        self.assertEqual(1000, loss.detached)
        time.sleep(0.4)
        self.assertTrue(progress.report(1))
        self.await_calls(2)
        self.assertEqual("progress --quiet --epoch 1 --of=90 --loss=0.5", self.said()[1])
        self.assertEqual(1, loss.read)

    def test_closing_sends_the_last_and_waits_for_it(self):
        os.environ["SLEEPS"] = "0.3"
        with self.module.Progress(of=2) as progress:
            progress.report(1)
            progress.report(2)
        self.assertEqual(2, len(self.said()))
        self.assertEqual("progress --quiet --epoch 2 --wait --of=2", self.said()[1])
        self.assertEqual(1, threading.active_count())
        progress.close()
        self.assertEqual(2, len(self.said()))

    def test_report_with_wait_is_sent_before_it_returns(self):
        self.module.report(1)
        self.module.report(2, wait=True)
        self.assertIn("--epoch 2 --wait", self.said()[-1])

    def test_values_that_make_no_sense_are_left_out(self):
        for epoch in (float("nan"), float("inf"), -1, 1e7, None, "three", object()):
            self.assertFalse(self.module.Progress().report(epoch))
        self.module.Progress(of=-1).report(1, samples_per_s=float("inf"), loss=float("nan"))
        self.await_calls(1)
        self.assertEqual(["progress --quiet --epoch 1"], self.said())

    def test_only_task_0_that_is_no_ps_reports(self):
        for name, value in (("SLURM_PROCID", "1"), ("HARMONY_ROLE", "ps"), ("SLURM_JOB_ID", "")):
            before = os.environ.get(name)
            os.environ[name] = value
            self.assertFalse(self.module.Progress().report(1))
            os.environ.pop(name) if before is None else os.environ.update({name: before})
        self.stand_in(
            "torch.distributed", is_available=lambda: True, is_initialized=lambda: True, get_rank=lambda: 3
        )
        self.assertFalse(self.module.Progress().report(1))
        sys.modules["torch.distributed"].get_rank = lambda: 0
        self.assertTrue(self.module.Progress().report(1))
        self.await_calls(1)

    def test_nothing_that_goes_wrong_is_raised(self):
        os.environ["HARMONY_COMMAND"] = "/nonexistent/harmony"
        with self.module.Progress() as progress:
            progress.report(1)
        os.environ["HARMONY_COMMAND"] = self.directory.name  # a directory
        self.module.Progress().report(1)
        os.environ.pop("HARMONY_COMMAND")
        threads = threading.Thread
        self.module.threading = types.SimpleNamespace(Thread=None)  # no thread can be made
        self.addCleanup(setattr, self.module, "threading", threading)
        self.assertFalse(self.module._reports.report(1))
        self.assertIs(threads, threading.Thread)
        self.assertEqual([], self.said())

    def test_a_command_that_hangs_holds_nobody_up(self):
        os.environ["SLEEPS"] = "2"
        progress = self.module.Progress()
        begin = time.monotonic()
        for _ in range(50):
            progress.report(1)
            time.sleep(0.02)
        self.assertLess(time.monotonic() - begin, 1.8)
        self.assertEqual(1, len(self.said()))
        progress._thread.join()

    def test_it_works_with_sigchld_ignored_and_leaves_no_zombie(self):
        before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        self.addCleanup(signal.signal, signal.SIGCHLD, before)
        self.module.report(1, wait=True)
        self.await_calls(1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self.module.Progress().report(1)
        self.await_calls(2)
        time.sleep(0.2)
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)

    def test_importing_it_imports_no_framework(self):
        code = (
            "import sys, harmony_progress;"
            "print([m for m in ('torch', 'keras', 'tensorflow', 'lightning') if m in sys.modules])"
        )
        self.assertEqual("[]\n", subprocess.check_output([sys.executable, "-B", "-c", code], cwd=FOLDER, text=True))

    def test_a_framework_that_is_missing_is_named(self):
        for name in ("lightning", "lightning.pytorch", "pytorch_lightning"):
            sys.modules[name] = None  # as if not installed
            self.addCleanup(sys.modules.pop, name, None)
        with self.assertRaisesRegex(ImportError, "lightning.pytorch, pytorch_lightning"):
            self.module.LightningProgress
        with self.assertRaises(AttributeError):
            self.module.NoSuchThing

    def test_the_plain_loop_reports_steps_and_the_end(self):
        epochs_set = []

        class Loader(list):
            batch_size = 32
            sampler = types.SimpleNamespace(set_epoch=epochs_set.append)

        seen = list(self.module.batches(Loader("ab"), epochs=2))
        self.assertEqual([(0, "a"), (0, "b"), (1, "a"), (1, "b")], seen)
        self.assertEqual([0, 1], epochs_set)
        self.assertEqual("progress --quiet --epoch 0.5 --of=2", self.said()[0])
        self.assertEqual("progress --quiet --epoch 2 --wait --of=2", self.said()[-1])

    def test_the_plain_loop_takes_what_has_no_length(self):
        class Stream:
            def __iter__(self):
                return iter("abc")

        self.assertEqual(3, len(list(self.module.batches(Stream(), epochs=1))))
        self.assertIn("--epoch 1 --wait", self.said()[-1])

    def test_speed_counts_the_samples_of_all_tasks(self):
        progress = types.SimpleNamespace(report=lambda epoch, samples_per_s=None, loss=None: told.append(samples_per_s))
        told, now = [], [0.0]
        self.module.time = types.SimpleNamespace(monotonic=lambda: now[0])
        self.addCleanup(setattr, self.module, "time", time)
        self.stand_in(
            "torch.distributed", is_available=lambda: True, is_initialized=lambda: True, get_world_size=lambda: 4
        )
        meter = self.module._Meter(progress, 32)
        for _ in range(10):
            now[0] += 1
            meter.step(0)
        self.assertEqual([None] * 4 + [128.0] * 6, told)

    def test_the_lightning_callback_reports(self):
        class Callback:
            pass

        self.stand_in("lightning.pytorch", Callback=Callback)
        callback = self.module.LightningProgress()
        self.assertIsInstance(callback, Callback)
        trainer = types.SimpleNamespace(max_epochs=2, num_training_batches=4, current_epoch=0, is_global_zero=True)
        callback.on_train_start(trainer, None)
        callback.on_train_batch_end(trainer, None, {"loss": Loss(0.5)}, None, 0)
        self.await_calls(1)
        self.assertEqual("progress --quiet --epoch 0.25 --of=2 --loss=0.5", self.said()[0])
        trainer.current_epoch = 1
        callback.on_train_batch_end(trainer, None, Loss(0.25), None, 3, 0)
        callback.on_train_epoch_end(trainer, None)
        callback.on_train_end(trainer, None)
        self.assertEqual("progress --quiet --epoch 2 --wait --of=2 --loss=0.25", self.said()[1])

    def test_the_lightning_callback_of_other_ranks_is_silent(self):
        self.stand_in("pytorch_lightning", Callback=object)
        trainer = types.SimpleNamespace(
            max_epochs=-1, num_training_batches=float("inf"), current_epoch=0, is_global_zero=False
        )
        callback = self.module.LightningProgress()
        callback.on_train_batch_end(trainer, None, None, None, 0)  # before on_train_start
        callback.on_train_start(trainer, None)
        callback.on_train_batch_end(trainer, None, None, None, 0)
        callback.on_train_epoch_end(trainer, None)
        callback.on_train_end(trainer, None)
        self.assertEqual([], self.said())

    def test_the_keras_callback_reports(self):
        class Callback:
            def __init__(self):
                self.params = None

        self.stand_in("keras.callbacks", Callback=Callback)
        callback = self.module.KerasProgress(samples_per_batch=32)
        self.assertIsInstance(callback, Callback)
        callback.params = {"epochs": 2, "steps": 10}
        callback.on_train_begin()
        callback.on_epoch_begin(0)
        callback.on_train_batch_end(0, {"loss": 0.75})
        self.await_calls(1)
        self.assertEqual("progress --quiet --epoch 0.1 --of=2 --loss=0.75", self.said()[0])
        callback.on_epoch_end(0, {"loss": 0.5})
        callback.on_epoch_begin(1)
        callback.on_train_batch_end(9)
        callback.on_epoch_end(1, {"loss": 0.25})
        callback.on_train_end()
        self.assertEqual("progress --quiet --epoch 2 --wait --of=2 --loss=0.25", self.said()[1])

    def test_the_keras_callback_is_of_the_keras_in_use(self):
        class Callback:
            pass

        class Other:
            pass

        self.stand_in("keras.callbacks", Callback=Other)
        self.stand_in("tensorflow.keras.callbacks", Callback=Callback)
        self.assertTrue(issubclass(self.module.KerasProgress, Callback))
        self.assertIs(self.module.KerasProgress, self.module.KerasProgress)


if __name__ == "__main__":
    unittest.main()
