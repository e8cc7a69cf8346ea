/** `/runs`, `/tools`, `/stats`: the methods of runs and what may be read of them, as HTTP. */
import type { Request } from 'express';
import { fieldsOf } from '../../business/ai/domain/json';
import type { ExchangeHandler } from '../http/RequestContext';
import { actorOf } from './RunRoutePorts';
import type { RunRoutePorts } from './RunRoutePorts';

/** `{ executionId }`, with 202: the run goes on by itself. */
export function startRun({ methods }: RunRoutePorts): ExchangeHandler {
  return async ({ actor, request, response }) => {
    response.status(202).json(await methods['ai.runs.start'](actorOf(actor), request.body));
  };
}

/** `{ runs }`, narrowed by `?state=` and `?since=`, milliseconds since the epoch. */
export function listRuns({ queries }: RunRoutePorts): ExchangeHandler {
  return async ({ actor, request, response }) => {
    const { since, ...query } = request.query;
    response.json({
      runs: await queries.runs(actorOf(actor), since === undefined ? query : { ...query, since: Number(since) }),
    });
  };
}

/** `{ run, toolCalls, deltas }` */
export function readRun({ queries }: RunRoutePorts): ExchangeHandler {
  return async ({ actor, request, response }) => {
    response.json(await queries.run(actorOf(actor), runIn(request)));
  };
}

/** `{ state }` of the run */
export function cancelRun({ methods }: RunRoutePorts): ExchangeHandler {
  return async ({ actor, request, response }) => {
    response.json({ state: await methods['ai.runs.cancel'](actorOf(actor), { executionId: runIn(request) }) });
  };
}

/** `{ callId, argumentsHash, reason? }` in, `{ state }` of the call out. */
export function decideCall({ methods }: RunRoutePorts, decision: 'approve' | 'reject'): ExchangeHandler {
  return async ({ actor, request, response }) => {
    response.json({ state: await methods[`ai.runs.${decision}`](actorOf(actor), commandIn(request)) });
  };
}

/** `{ callId, output | error }` in, `{ result: 'accepted' | 'already-settled' }` out. */
export function submitToolResult({ methods }: RunRoutePorts): ExchangeHandler {
  return async ({ actor, request, response }) => {
    response.json({ result: await methods['ai.runs.submitToolResult'](actorOf(actor), commandIn(request)) });
  };
}

/** `{ tools }` */
export function listTools({ queries }: RunRoutePorts): ExchangeHandler {
  return async ({ actor, response }) => {
    response.json({ tools: await queries.tools(actorOf(actor)) });
  };
}

/** `{ counts }` */
export function readStats({ queries }: RunRoutePorts): ExchangeHandler {
  return async ({ actor, response }) => {
    response.json({ counts: await queries.stats(actorOf(actor)) });
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
