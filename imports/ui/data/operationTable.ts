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
  'ai.memory.list': { topics: ['memories'], routes: ['GET /memories'] },
  'ai.memory.search': { topics: ['memories'], routes: ['GET /memories/search'] },
  'ai.memory.save': { topics: ['memories'], routes: ['POST /memories'] },
  'ai.memory.forget': { topics: ['memories'], routes: ['DELETE /memories/:memoryId', 'DELETE /memories'] },
  'ai.queue.list': { topics: ['queue', 'runs'], routes: ['GET /queue'] },
  'ai.queue.pause': { topics: ['queue'], routes: ['POST /queue/pause'] },
  'ai.queue.resume': { topics: ['queue'], routes: ['POST /queue/resume'] },
  'ai.queue.runNow': { topics: ['queue', 'runs'], routes: ['POST /queue/runs/:executionId/run-now'] },
  'ai.schedules.list': { topics: ['queue'], routes: ['GET /schedules'], field: 'schedules' },
  'ai.schedules.pause': { topics: ['queue'], routes: ['POST /schedules/:name/pause'] },
  'ai.schedules.resume': { topics: ['queue'], routes: ['POST /schedules/:name/resume'] },
  'ai.schedules.runNow': { topics: ['queue'], routes: ['POST /schedules/:name/run-now'] },
  'ai.routing.list': { topics: ['routing', 'providers', 'runs'], routes: ['GET /routing'] },
  'ai.routing.save': { topics: ['routing'], routes: ['POST /routing/:name'] },
  'ai.routing.remove': { topics: ['routing'], routes: ['DELETE /routing/:name'] },
};
