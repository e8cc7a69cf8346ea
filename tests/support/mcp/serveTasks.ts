/** A server that makes a task of each call of its tool `report`, in either revision that has tasks. */
import { jsonRpc, serveMcp } from './serveMcp';
import type { ServedMcp } from './serveMcp';

export interface TaskServer extends ServedMcp {
  /** Tasks that were created. */
  readonly created: string[];
  readonly cancelled: string[];
  /** Answers that `tasks/update` brought. */
  readonly updates: unknown[];
  /** Requests for the state of a task. */
  polls: number;
  /** Has the task wait for a person. */
  asks: boolean;
  /** Ends all tasks. */
  finish(): void;
}

const TOOL = { name: 'report', description: 'Writes a report.', inputSchema: { type: 'object' } };
const QUESTION = {
  method: 'elicitation/create',
  params: { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } },
};

export async function serveTasks(revision: '2026-07-28' | '2025-11-25', port = 0): Promise<TaskServer> {
  let isFinished = false;
  const state = { created: [] as string[], cancelled: [] as string[], updates: [] as unknown[], polls: 0, asks: false };
  const result = { content: [{ type: 'text', text: 'the report' }] };
  const times = { createdAt: '2026-11-01T10:00:00Z', lastUpdatedAt: '2026-11-01T10:00:00Z' };
  const taskOf = (taskId: unknown): object => ({
    taskId,
    statusMessage: 'halfway',
    ...times,
    ...(revision === '2026-07-28' ? { ttlMs: null, pollIntervalMs: 50 } : { ttl: null, pollInterval: 50 }),
    ...(isFinished
      ? { status: 'completed', ...(revision === '2026-07-28' ? { result } : {}) }
      : state.asks && state.updates.length === 0
        ? { status: 'input_required', inputRequests: { sure: QUESTION } }
        : { status: 'working' }),
  });
  const create = (): object => {
    const taskId = `task-${state.created.length + 1}`;
    state.created.push(taskId);
    return taskOf(taskId);
  };
  const cancel = ({ taskId }: Record<string, unknown>): object => {
    state.cancelled.push(String(taskId));
    return taskOf(taskId);
  };
  const complete = <T extends object>(fields: T): T & { readonly resultType: 'complete' } => ({
    ...fields,
    resultType: 'complete',
  });
  const get = ({ taskId }: Record<string, unknown>): object => {
    state.polls += 1;
    return taskOf(taskId);
  };
  const handle =
    revision === '2026-07-28'
      ? jsonRpc({
          'server/discover': () =>
            complete({
              supportedVersions: ['2026-07-28'],
              capabilities: { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
              serverInfo: { name: 'tasks', version: '1' },
              ttlMs: 0,
              cacheScope: 'private',
            }),
          'tools/list': () => complete({ tools: [TOOL], ttlMs: 0, cacheScope: 'private' }),
          'tools/call': () => ({ ...create(), resultType: 'task' }),
          'tasks/get': (params) => complete(get(params)),
          'tasks/update': ({ inputResponses }) => {
            state.updates.push(inputResponses);
            return complete({});
          },
          'tasks/cancel': (params) => {
            cancel(params);
            return complete({});
          },
        })
      : jsonRpc({
          initialize: () => ({
            protocolVersion: revision,
            capabilities: { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } },
            serverInfo: { name: 'tasks', version: '1' },
          }),
          'tools/list': () => ({ tools: [{ ...TOOL, execution: { taskSupport: 'required' } }] }),
          'tools/call': ({ task }) => {
            if (task === undefined) throw new Error('The tool runs as a task only.');
            return { task: create() };
          },
          'tasks/get': get,
          'tasks/result': () => result,
          'tasks/cancel': cancel,
        });
  const served = await serveMcp(handle, port);
  return Object.assign(state, served, {
    finish: () => {
      isFinished = true;
    },
  });
}
