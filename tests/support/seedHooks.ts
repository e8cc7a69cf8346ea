/** Gives every property test the same seed when `BOLIDE_SEED` is set, as in CI, and has reports name the cause. */
import { configureGlobal } from 'fast-check';

const seed = process.env['BOLIDE_SEED'];
configureGlobal({ includeErrorInReport: true, ...(seed === undefined ? {} : { seed: Number(seed) }) });
