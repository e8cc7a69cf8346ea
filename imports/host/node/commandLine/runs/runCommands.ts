/** The commands of `bolide runs`: each asks the server, and prints what it has answered. */
import type { InboxEntry, InboxPage, WaitingCallEntry } from '../../../../business/ai/domain/types/InboxViews';
import type { ListedRun, RunDetail, ToolCallView } from '../../../../business/ai/domain/types/RunViews';
import { formatAge, formatTable, toCell } from './formatTable';
import type { RunsClient } from './RunsClient';
import { RunsClientError } from './RunsClient';

export interface RunsContext {
  readonly client: RunsClient;
  readonly json: boolean;
  readonly print: (line: string) => void;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface ListOptions {
  readonly state?: string | undefined;
  readonly user?: string | undefined;
  readonly stuck?: boolean | undefined;
  readonly limit?: string | undefined;
}

export interface Decision {
  readonly outcome: (typeof OUTCOMES)[number];
  readonly call?: string | undefined;
  readonly reason?: string | undefined;
  readonly result?: string | undefined;
}

export const OUTCOMES = ['approve', 'reject', 'rerun', 'unknown', 'result'] as const;

/** What a run that does not get on by itself is listed under. */
const STUCK_KINDS = ['review', 'parked', 'approval', 'external', 'tools'] as const;

export async function listRuns({ client, json, print, now }: RunsContext, options: ListOptions): Promise<void> {
  if (options.stuck === true) {
    const stuck = (await readInbox(client, STUCK_KINDS, options.limit)).filter(
      ({ userId }) => options.user === undefined || userId === options.user,
    );
    if (json) print(JSON.stringify(stuck));
    else if (stuck.length === 0) print('No run waits for anybody.');
    else
      print(
        formatTable([
          ['RUN', 'USER', 'WAITS FOR', 'SINCE', 'WHAT'],
          ...stuck.map((entry) => [
            entry.executionId,
            entry.userId,
            entry.kind,
            formatAge(entry.since, now),
            whatOf(entry),
          ]),
        ]),
      );
    return;
  }
  const { runs, total } = (await client.get('/runs', {
    state: options.state,
    userId: options.user,
    limit: options.limit ?? '50',
  })) as { readonly runs: readonly ListedRun[]; readonly total: number };
  if (json) {
    print(JSON.stringify(runs));
    return;
  }
  print(
    formatTable([
      ['RUN', 'USER', 'STATE', 'AGE', 'CALLS', 'TITLE'],
      ...runs.map((run) => [
        run._id,
        run.userId,
        run.waitingFor === undefined ? run.state : `${run.state} (${run.waitingFor})`,
        formatAge(run.createdAt, now),
        String(run.iterations),
        run.title,
      ]),
    ]),
  );
  if (total > runs.length) print(`${runs.length} of ${total} runs. --limit shows up to 200.`);
}

export async function showRun({ client, json, print, now }: RunsContext, run: string): Promise<void> {
  const detail = (await client.get(`/runs/${encodeURIComponent(run)}`)) as RunDetail;
  if (json) {
    print(JSON.stringify(detail));
    return;
  }
  const { run: view, toolCalls, plan } = detail;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['run', view._id],
    ['user', view.userId],
    ['state', view.state],
    ['parked', view.parked === undefined ? undefined : `${view.parked.reason}: ${view.parked.message}`],
    ['error', view.error === undefined ? undefined : `${view.error.code}: ${view.error.message}`],
    ['provider', [view.providerId, view.model].filter((part) => part !== undefined).join(' ')],
    ['title', view.title],
    ['created', `${new Date(view.createdAt).toISOString()} (${formatAge(view.createdAt, now)} ago)`],
    ['ended', view.endedAt === undefined ? undefined : new Date(view.endedAt).toISOString()],
    ['model calls', String(view.iterations)],
    ['tokens', String(view.usage.total_tokens)],
    ['cost', view.cost === undefined ? undefined : `$${view.cost}`],
    ['tools', [...plan.tools, ...plan.otherTools].join(', ') || undefined],
    ['limits', JSON.stringify(plan.limits)],
  ];
  for (const [name, value] of facts) if (value !== undefined) print(`${name.padEnd(12)}${toCell(value)}`);
  if (toolCalls.length === 0) return;
  print('');
  print(
    formatTable([
      ['CALL', 'TOOL', 'STATE', 'AGE', 'ARGUMENTS'],
      ...toolCalls.map((call) => [
        call.callId,
        call.name,
        call.waiting === undefined ? call.state : `${call.state} (${call.waiting})`,
        formatAge(call.createdAt, now),
        call.arguments,
      ]),
    ]),
  );
}

export async function cancelRun(context: RunsContext, run: string): Promise<void> {
  const { state } = (await context.client.post(`/runs/${encodeURIComponent(run)}/cancel`)) as {
    readonly state: string;
  };
  const isEnding = state === 'running' || state === 'waiting';
  report(context, { executionId: run, state }, `${run}: ${isEnding ? 'will be cancelled' : state}`);
}

/** Resumes a parked run, and repeats one that has ended. */
export async function retryRun(context: RunsContext, run: string): Promise<void> {
  const { client } = context;
  const { run: view } = (await client.get(`/runs/${encodeURIComponent(run)}`)) as RunDetail;
  if (view.parked !== undefined) {
    const { state } = (await client.post(`/runs/${encodeURIComponent(run)}/resume`)) as { readonly state: string };
    report(context, { executionId: run, state }, `${run}: ${state}`);
    return;
  }
  if (view.state !== 'failed' && view.state !== 'cancelled')
    throw new RunsClientError(
      `The run ${run} is ${view.state}. Parked runs are resumed, and failed and cancelled ones are repeated.`,
    );
  const { executionId } = (await client.post('/runs', {
    // The same attempt, if it is sent again because no response arrived.
    requestId: `retry-of-${run}`,
    providerId: view.providerId,
    repeats: run,
  })) as { readonly executionId: string };
  report(context, { executionId, repeats: run }, `${executionId} repeats ${run}.`);
}

/** @param run lists only its calls */
export async function listWaitingCalls({ client, json, print, now }: RunsContext, run?: string): Promise<void> {
  const waiting = (await readInbox(client, ['review', 'approval', 'external'])).filter(
    ({ executionId }) => run === undefined || executionId === run,
  );
  if (json) print(JSON.stringify(waiting));
  else if (waiting.length === 0) print('No call waits for a decision.');
  else
    print(
      formatTable([
        ['RUN', 'CALL', 'WAITS FOR', 'SINCE', 'TOOL', 'ARGUMENTS'],
        ...waiting
          .filter(isCall)
          .map((entry) => [
            entry.executionId,
            entry.callId,
            entry.kind,
            formatAge(entry.since, now),
            entry.name,
            entry.arguments,
          ]),
      ]),
    );
}

export async function decideCall(context: RunsContext, run: string, decision: Decision): Promise<void> {
  const { client } = context;
  const { toolCalls } = (await client.get(`/runs/${encodeURIComponent(run)}`)) as RunDetail;
  const call = chosenCall(toolCalls, run, decision.call);
  const path = `/runs/${encodeURIComponent(run)}`;
  const asked = call.input === undefined ? {} : { inputId: call.input.id };
  const shown = { callId: call.callId, argumentsHash: call.argumentsHash, ...asked };
  const reason = decision.reason === undefined ? {} : { reason: decision.reason };
  const decided = await ((): Promise<unknown> => {
    switch (decision.outcome) {
      case 'approve':
        return client.post(`${path}/approve`, shown);
      case 'rerun':
        return client.post(`${path}/approve`, { ...shown, startTime: call.startTime });
      case 'reject':
      case 'unknown':
        return client.post(`${path}/reject`, { ...shown, ...reason });
      case 'result':
        return client.post(`${path}/tool-results`, { callId: call.callId, ...asked, output: decision.result ?? '' });
    }
  })();
  const { state } = decided as { readonly state: string };
  report(context, decided, `${call.name} (${call.callId}) of ${run}: ${state}`);
}

function chosenCall(calls: readonly ToolCallView[], run: string, callId: string | undefined): ToolCallView {
  const waiting = calls.filter((call) => call.waiting !== undefined);
  if (callId !== undefined) {
    const named = calls.find((call) => call.callId === callId);
    if (named === undefined) throw new RunsClientError(`The run ${run} has no call ${callId}.`);
    return named;
  }
  const [only, ...others] = waiting;
  if (only === undefined) throw new RunsClientError(`No call of the run ${run} waits for a decision.`);
  if (others.length > 0)
    throw new RunsClientError(
      `Several calls of the run ${run} wait: name one of ${waiting.map((call) => call.callId).join(', ')} with --call.`,
    );
  return only;
}

async function readInbox(
  client: RunsClient,
  kinds: readonly InboxEntry['kind'][],
  limit = '200',
): Promise<readonly InboxEntry[]> {
  const pages = await Promise.all(
    kinds.map(async (kind) => ((await client.get('/inbox', { kind, limit })) as InboxPage).entries),
  );
  return pages.flat().toSorted((a, b) => a.since - b.since);
}

function isCall(entry: InboxEntry): entry is WaitingCallEntry {
  return 'callId' in entry;
}

function whatOf(entry: InboxEntry): string {
  if (isCall(entry)) return `${entry.name} ${entry.arguments}`;
  switch (entry.kind) {
    case 'parked':
      return entry.parked.message;
    case 'tools':
      return `No process has its tools: ${entry.awaitedTools.names.join(', ')}`;
    case 'failed':
      return entry.error.message;
  }
}

function report({ json, print }: RunsContext, answer: unknown, line: string): void {
  print(json ? JSON.stringify(answer) : line);
}
