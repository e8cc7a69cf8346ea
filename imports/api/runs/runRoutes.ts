/** `/runs`, `/tools` and `/stats`: operations and queries of runs over HTTP. */
import type { HttpRequest } from '../http/HttpMessages';
import { fieldsOf } from '../../business/ai/domain/json';
import type { RouteHandler } from '../http/RequestContext';
import { toActor } from '../auth/ApiPrincipal';
import type { RunRoutePorts } from './RunRoutePorts';

/** Responds with 202 and `{ executionId }`; the run continues in the background. */
export function startRun({ methods }: RunRoutePorts): RouteHandler {
  return async ({ principal, request, response }) => {
    response.status(202).json(await methods['ai.runs.start'](toActor(principal, 'runs'), request.body));
  };
}

/** Responds with `{ runs }`, filtered by `?state=` and `?since=` (milliseconds since the epoch). */
export function listRuns({ queries }: RunRoutePorts): RouteHandler {
  return async ({ principal, request, response }) => {
    const { since, ...query } = request.query;
    response.json({
      runs: await queries.runs(toActor(principal), since === undefined ? query : { ...query, since: Number(since) }),
    });
  };
}

/** Responds with `{ run, toolCalls, deltas }`. */
export function readRun({ queries }: RunRoutePorts): RouteHandler {
  return async ({ principal, request, response }) => {
    response.json(await queries.run(toActor(principal), runIn(request)));
  };
}

/** Responds with the run's `{ state }`. */
export function cancelRun({ methods }: RunRoutePorts): RouteHandler {
  return async ({ principal, request, response }) => {
    response.json({ state: await methods['ai.runs.cancel'](toActor(principal), { executionId: runIn(request) }) });
  };
}

/** Continues a parked run, and responds with its `{ state }`. */
export function resumeRun({ methods }: RunRoutePorts): RouteHandler {
  return async ({ principal, request, response }) => {
    response.json({ state: await methods['ai.runs.resume'](toActor(principal), { executionId: runIn(request) }) });
  };
}

/** Takes `{ callId, argumentsHash, reason? }`, and responds with the call's `{ executionId, callId, state }`. */
export function decideCall({ methods }: RunRoutePorts, decision: 'approve' | 'reject'): RouteHandler {
  return async ({ principal, request, response }) => {
    response.json(await methods[`ai.runs.${decision}`](toActor(principal), commandIn(request)));
  };
}

/** Takes `{ callId, output | error }`, and responds with `{ executionId, callId, state, result }`. */
export function submitToolResult({ methods }: RunRoutePorts): RouteHandler {
  return async ({ principal, request, response }) => {
    response.json(await methods['ai.runs.submitToolResult'](toActor(principal), commandIn(request)));
  };
}

/** Takes `{ name, payload?, signalId? }`, and responds with `{ executionId, name, result }`. */
export function signalRun({ methods }: RunRoutePorts): RouteHandler {
  return async ({ principal, request, response }) => {
    response.json(await methods['ai.runs.signal'](toActor(principal), commandIn(request)));
  };
}

/** Responds with `{ tools }`. */
export function listTools({ queries }: RunRoutePorts): RouteHandler {
  return async ({ principal, response }) => {
    response.json({ tools: await queries.tools(toActor(principal)) });
  };
}

/** Responds with `{ counts }`. */
export function readStats({ queries }: RunRoutePorts): RouteHandler {
  return async ({ principal, response }) => {
    response.json({ counts: await queries.stats(toActor(principal)) });
  };
}

/** The path determines the run, even if the body names another. */
function commandIn(request: HttpRequest): object {
  return { ...fieldsOf(request.body), executionId: runIn(request) };
}

function runIn(request: HttpRequest): string {
  // The routes that call this have the parameter.
  return String(request.params['id']);
}
