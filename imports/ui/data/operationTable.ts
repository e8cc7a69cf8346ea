/** Written by `npm run generate` from the definitions of operations. */
import type { OPERATIONS } from '../../host/operations';
import type { OperationEntry } from './OperationEntry';

export const OPERATION_TABLE: Readonly<Record<(typeof OPERATIONS)[number]['name'], OperationEntry>> = {
  'ai.budgets.list': { topics: ['budgets', 'runs', 'requests'], routes: ['GET /budgets'] },
  'ai.budgets.set': {
    topics: ['budgets'],
    routes: ['POST /budgets/teams/:team', 'POST /budgets/:userId', 'POST /budgets'],
  },
  'ai.budgets.remove': {
    topics: ['budgets'],
    routes: ['DELETE /budgets/teams/:team', 'DELETE /budgets/:userId', 'DELETE /budgets'],
  },
};
