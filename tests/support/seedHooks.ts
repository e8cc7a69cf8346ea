/** Gives every property test the same seed when `BOLIDE_SEED` is set, as in CI. */
import { configureGlobal } from 'fast-check';

const seed = process.env['BOLIDE_SEED'];
if (seed !== undefined) configureGlobal({ seed: Number(seed) });
