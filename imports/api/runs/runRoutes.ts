/** `/runs`, `/tools`, `/stats`: the methods of runs and what may be read of them, as HTTP. */
import type { Request } from 'express';
import { fieldsOf } from '../../business/ai/domain/json';
import type { RouteHandler } from '../http/RequestContext';
import { toActor } from '../auth/ApiPrincipal';
import type { RunRoutePorts } from './RunRoutePorts';

/** `{ executionId }`, with 202: the run goes on by itself. */
export function startRun({ methods }: RunRoutePorts): RouteHandler {
  return async ({ principal, request, response }) => {
    response.status(202).json(await methods['ai.runs.start'](toActor(principal), request.body));
  };
}

/** `{ runs }`, narrowed by `?state=` and `?since=`, milliseconds since the epoch. */
export function listRuns({ queries }: RunRoutePorts): RouteHandler {
  return async ({ principal, request, response }) => {
    const { since, ...query } = request.query;
    response.json({
      runs: await queries.runs(toActor(principal), since === undefined ? query : { ...query, since: Number(since) }),
    });
  };
}

/** `{ run, toolCalls, deltas }` */
export function readRun({ queries }: RunRoutePorts): RouteHandler {
  return async ({ principal, request, response }) => {
    response.json(await queries.run(toActor(principal), runIn(request)));
  };
}

/** `{ state }` of the run */
export function cancelRun({ methods }: RunRoutePorts): RouteHandler {
  return async ({ principal, request, response }) => {
    response.json({ state: await methods['ai.runs.cancel'](toActor(principal), { executionId: runIn(request) }) });
  };
}

/** `{ callId, argumentsHash, reason? }` in, `{ state }` of the call out. */
export function decideCall({ methods }: RunRoutePorts, decision: 'approve' | 'reject'): RouteHandler {
  return async ({ principal, request, response }) => {
    response.json({ state: await methods[`ai.runs.${decision}`](toActor(principal), commandIn(request)) });
  };
}

/** `{ callId, output | error }` in, `{ result: 'accepted' | 'already-settled' }` out. */
export function submitToolResult({ methods }: RunRoutePorts): RouteHandler {
  return async ({ principal, request, response }) => {
    response.json({ result: await methods['ai.runs.submitToolResult'](toActor(principal), commandIn(request)) });
  };
}

/** `{ tools }` */
export function listTools({ queries }: RunRoutePorts): RouteHandler {
  return async ({ principal, response }) => {
    response.json({ tools: await queries.tools(toActor(principal)) });
  };
}

/** `{ counts }` */
export function readStats({ queries }: RunRoutePorts): RouteHandler {
  return async ({ principal, response }) => {
    response.json({ counts: await queries.stats(toActor(principal)) });
  };
}

/** The path says which run is meant, whatever the body says. */
function commandIn(request: Request): object {
  return { ...fieldsOf(request.body), executionId: runIn(request) };
}

function runIn(request: Request): string {
  // The routes that ask this have the parameter.
  return String(request.params['id']);
}
