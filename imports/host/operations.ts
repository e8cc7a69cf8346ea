/** Every operation of a host. */
import type { OperationsOf, ServicesOf } from './bindOperations';
import { FEATURES } from './features';

type Definition = (typeof FEATURES)[number]['operations'][number];

export const OPERATIONS: readonly Definition[] = FEATURES.flatMap(
  ({ operations }): readonly Definition[] => operations,
);

/** What carries the operations out. */
export type OperationServices = ServicesOf<typeof OPERATIONS>;

/** The operations of a host by name, the same for every transport. */
export type DefinedOperations = OperationsOf<typeof OPERATIONS>;
