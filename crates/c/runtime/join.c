/* ---- The largest and the smallest, in any order --------------------------------------------------------------------- */

#pragma omp declare reduction(wg_max : double : omp_out = wg_each_max(omp_out, omp_in)) initializer(omp_priv = -(double)INFINITY)
#pragma omp declare reduction(wg_min : double : omp_out = wg_each_min(omp_out, omp_in)) initializer(omp_priv = (double)INFINITY)
