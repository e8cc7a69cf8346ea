/** The functions that are simulated: as they are, or with a mistake in them. */
import type * as program from './machineProgram';

export type Machine = typeof program;
