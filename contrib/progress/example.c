/* Progress from a C program. In the source directory:
 *   cc -pthread -Icontrib/progress -o example contrib/progress/example.c contrib/progress/harmony_progress.c
 *   srun -n 1 ./example */
#include "harmony_progress.h"

#include <stdio.h>

int main(void) {
  const int epochs = 3, steps = 1000;
  int epoch, step;
  for (epoch = 0; epoch < epochs; ++epoch)
    for (step = 0; step < steps; ++step) /* one step of training, and: */
      harmony_progress(epoch + (double)step / steps, epochs, HARMONY_UNKNOWN, 1.0 / (epoch * steps + step + 1));
  harmony_progress_last(epochs, epochs, HARMONY_UNKNOWN, HARMONY_UNKNOWN);
  puts("trained");
  return 0;
}
