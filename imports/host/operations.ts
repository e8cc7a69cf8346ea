/** Every operation of a host. */
import { BUDGET_OPERATIONS } from '../business/ai/application/operations/budgetOperations';
import type { OperationsOf, ServicesOf } from './bindOperations';

export const OPERATIONS = [...BUDGET_OPERATIONS] as const;

/** What carries the operations out. */
export type OperationServices = ServicesOf<typeof OPERATIONS>;

/** The operations of a host by name, the same for every transport. */
export type DefinedOperations = OperationsOf<typeof OPERATIONS>;
