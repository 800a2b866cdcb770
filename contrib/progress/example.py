"""Progress from a Python program. In the source directory:

    PYTHONPATH=contrib/progress srun -n 1 python3 contrib/progress/example.py

A PyTorch DataLoader goes where the list of batches stands.
"""

import harmony_progress

batches = [[0.0] * 32] * 1000
epochs = 3

with harmony_progress.Progress(of=epochs) as progress:
    for epoch, batch in harmony_progress.batches(batches, epochs, samples_per_batch=32, progress=progress):
        loss = 1.0 / (epoch + 1)  # one step of training
        progress.report(epoch, loss=loss)
print("trained")
