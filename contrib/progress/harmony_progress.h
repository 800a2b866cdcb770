/* Tells Slurm from inside a job how far its training has come: `harmony progress` as a function, for C and C++.
 *
 * Compile harmony_progress.c into the program, with -pthread; nothing else is needed. The `harmony` command is looked
 * for in PATH, or is what the environment variable HARMONY_COMMAND names.
 *
 * It is cheap enough for every step: at most every 10 seconds the command is started, by a thread that waits for it,
 * with /dev/null as its stdin, stdout and stderr; all other calls only look at a clock. Nothing that goes wrong does
 * the program any harm. Outside a job, in tasks other than task 0 and in PS, all calls do nothing.
 *
 * Any thread may call; what two threads report at the same moment may be one report. A SIGCHLD handler of the program
 * sees the command's end like that of any child.
 */
#ifndef HARMONY_PROGRESS_H
#define HARMONY_PROGRESS_H

#ifdef __cplusplus
extern "C" {
#endif

/* epoch: how many are done, such as 3.25. of: how many it will be. samples_per_s: of all tasks together. loss.
 * What is not known is HARMONY_UNKNOWN, and is left out; so is what is negative (but for the loss) or not finite.
 * Returns 1 if the command was started, 0 if it was not needed, -1 if it was not possible. */
#define HARMONY_UNKNOWN (-1e300)
int harmony_progress(double epoch, double of, double samples_per_s, double loss);

/* The same for the last report of a program: waits until it was sent, for up to 30 seconds. */
int harmony_progress_last(double epoch, double of, double samples_per_s, double loss);

#ifdef __cplusplus
}
#endif

#endif
