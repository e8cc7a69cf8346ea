/** Runs, what waits for people, usage, and the log of requests. */
import { ANYTHING, COUNT, FLAG, listOf, NUMBER, OBJECT, objectOf, oneOf, TEXT, TIME } from '../jsonSchemas';
import type { RouteDescriptions, Schema } from '../RouteDescription';

const ORDER = oneOf('asc', 'desc');
const PAGE = { sort: TEXT, order: ORDER, limit: COUNT, after: TEXT };
const RANGES = { from: TIME, to: TIME, minCost: NUMBER, maxCost: NUMBER, minDuration: NUMBER, maxDuration: NUMBER };
const STATES: Schema = { type: 'string', description: 'Comma-separated.' };
const RUN_FILTER = {
  ...RANGES,
  state: STATES,
  since: TIME,
  waiting: FLAG,
  ...{ executionId: TEXT, userId: TEXT, providerId: TEXT, model: TEXT, tag: TEXT, search: TEXT },
  ...{ conversationId: TEXT, parentExecutionId: TEXT },
};
const CALL_STATE = objectOf({ executionId: TEXT, callId: TEXT, state: TEXT });
const EXECUTION = objectOf({ executionId: TEXT });
const DECISION = { callId: TEXT, argumentsHash: TEXT };

export const RUN_ROUTES: RouteDescriptions = {
  'GET /runs': {
    summary: 'List runs',
    query: { ...RUN_FILTER, ...PAGE },
    result: objectOf({ runs: listOf(OBJECT) }, { total: COUNT, next: TEXT }),
  },
  'GET /runs/summary': {
    summary: 'Add up what a filter of runs matches',
    query: RUN_FILTER,
    result: objectOf({ total: COUNT, states: OBJECT }),
  },
  'POST /runs': {
    summary: 'Start a run of the agentic loop',
    body: objectOf(
      { requestId: TEXT, providerId: TEXT },
      {
        input: ANYTHING,
        model: TEXT,
        instructions: TEXT,
        tools: listOf(TEXT),
        clientTools: listOf(OBJECT),
        conversationId: TEXT,
        schema: OBJECT,
        compaction: ANYTHING,
        tags: listOf(TEXT),
        metadata: OBJECT,
        reasoning: TEXT,
        temperature: NUMBER,
        maxOutputTokens: COUNT,
      },
    ),
    example: { requestId: 'first', providerId: 'anthropic', input: 'Hello!' },
    status: 202,
    result: EXECUTION,
  },
  'GET /runs/stream': {
    summary: 'The events of the caller’s runs',
    query: { executionId: TEXT, brief: FLAG },
    streams: 'always',
  },
  'GET /runs/:id': {
    summary: 'Read a run',
    result: objectOf({ run: OBJECT, toolCalls: listOf(OBJECT), deltas: listOf(OBJECT) }, { plan: ANYTHING }),
  },
  'POST /runs/:id/rating': {
    summary: 'Rate a run',
    body: objectOf({ rating: { enum: ['up', 'down', null] } }, { comment: TEXT }),
    result: objectOf({ executionId: TEXT, rating: ANYTHING }),
  },
  'POST /runs/:id/tags': {
    summary: 'Replace the tags of a run',
    body: objectOf({ tags: listOf(TEXT) }),
    result: objectOf({ executionId: TEXT, tags: listOf(TEXT) }),
  },
  'GET /runs/:id/export': { summary: 'Everything that is stored of a run', result: OBJECT },
  'POST /runs/:id/cancel': { summary: 'Cancel a run', result: objectOf({ state: TEXT }) },
  'POST /runs/:id/resume': { summary: 'Continue a parked run', result: objectOf({ state: TEXT }) },
  'POST /runs/:id/approve': {
    summary: 'Approve a tool call, or let the attempt that is under review run again',
    body: objectOf(DECISION, { startTime: TIME }),
    result: CALL_STATE,
  },
  'POST /runs/:id/reject': {
    summary: 'Reject a tool call',
    body: objectOf(DECISION, { reason: TEXT }),
    result: CALL_STATE,
  },
  'POST /runs/:id/tool-results': {
    summary: 'Submit the result of a tool call',
    body: objectOf({ callId: TEXT }, { output: ANYTHING, error: TEXT }),
    result: objectOf({ executionId: TEXT, callId: TEXT, state: TEXT, result: oneOf('accepted', 'already-settled') }),
  },
  'POST /runs/:id/signal': {
    summary: 'Send a signal, for which a tool call of the run waits',
    body: objectOf({ name: TEXT }, { payload: ANYTHING, signalId: TEXT }),
    result: objectOf({ executionId: TEXT, name: TEXT, result: oneOf('accepted', 'repeated') }),
  },
  'GET /runs/:id/calls/:callId': {
    summary: 'Read a tool call with its complete arguments and result',
    result: objectOf({ executionId: TEXT, callId: TEXT, name: TEXT, state: TEXT }),
  },

  'GET /inbox': {
    summary: 'List what waits for a person or another service',
    query: { kind: TEXT, search: TEXT, order: ORDER, limit: COUNT, after: TEXT },
    result: objectOf({ entries: listOf(OBJECT), counts: OBJECT }, { next: TEXT }),
  },
  'POST /inbox/:id/dismiss': { summary: 'Dismiss a failed run', result: EXECUTION },

  'GET /usage': {
    summary: 'Report cost, tokens, requests, errors and times',
    requiredQuery: { from: TIME, to: TIME, interval: TEXT },
    query: { utcOffset: NUMBER, groupBy: TEXT, providerId: TEXT, model: TEXT, userId: TEXT, tool: TEXT },
    result: OBJECT,
  },
  'GET /requests': {
    summary: 'List model calls',
    query: {
      ...RANGES,
      ...PAGE,
      state: STATES,
      ...{ userId: TEXT, tokenId: TEXT, executionId: TEXT, providerId: TEXT, model: TEXT, api: TEXT, search: TEXT },
    },
    result: objectOf({ requests: listOf(OBJECT) }, { total: COUNT, next: TEXT }),
  },
  'GET /requests/:id': {
    summary: 'Read a model call',
    result: objectOf({ request: OBJECT, logsBodies: FLAG }, { bodies: OBJECT }),
  },
  'GET /tools': { summary: 'List the registered tools', result: objectOf({ tools: listOf(OBJECT) }) },
  'GET /stats': { summary: 'Count runs and calls per state, provider and day', result: objectOf({ counts: ANYTHING }) },
};
