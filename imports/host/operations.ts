/** Every operation of a host. */
import { BUDGET_OPERATIONS } from '../business/ai/application/operations/budgetOperations';
import { MEMORY_OPERATIONS } from '../business/ai/application/operations/memoryOperations';
import { QUEUE_OPERATIONS } from '../business/ai/application/operations/queueOperations';
import { ROUTING_OPERATIONS } from '../business/ai/application/operations/routingOperations';
import type { OperationsOf, ServicesOf } from './bindOperations';

export const OPERATIONS = [
  ...BUDGET_OPERATIONS,
  ...MEMORY_OPERATIONS,
  ...QUEUE_OPERATIONS,
  ...ROUTING_OPERATIONS,
] as const;

/** What carries the operations out. */
export type OperationServices = ServicesOf<typeof OPERATIONS>;

/** The operations of a host by name, the same for every transport. */
export type DefinedOperations = OperationsOf<typeof OPERATIONS>;
