/** The commands of `bolide runs`: each asks the server, and prints what it has answered. */
import type { InboxEntry, InboxPage, WaitingCallEntry } from '../../../business/ai/domain/types/InboxViews';
import type { ListedRun, RunDetail, ToolCallView } from '../../../business/ai/domain/types/RunViews';
import { formatAge, formatTable, toCell } from './formatTable';
import type { RunsClient } from './RunsClient';
import { RunsClientError } from './RunsClient';

export interface RunsContext {
  readonly client: RunsClient;
  /** The id of a run, if the command takes one. */
  readonly run: string;
  readonly options: {
    readonly state?: string | undefined;
    readonly user?: string | undefined;
    readonly stuck: boolean;
    readonly limit?: string | undefined;
    readonly call?: string | undefined;
    readonly outcome?: string | undefined;
    readonly reason?: string | undefined;
    readonly result?: string | undefined;
    readonly json: boolean;
  };
  readonly print: (line: string) => void;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

type Command = (context: RunsContext) => Promise<void>;

export const OUTCOMES = ['approve', 'reject', 'rerun', 'unknown', 'result'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What a run that does not get on by itself is listed under. */
const STUCK_KINDS = ['review', 'parked', 'approval', 'external', 'tools'] as const;

export const listRuns: Command = async (context) => {
  const { client, options, print, now } = context;
  if (options.stuck) {
    const stuck = (await readInbox(context, STUCK_KINDS)).filter(
      ({ userId }) => options.user === undefined || userId === options.user,
    );
    if (options.json) print(JSON.stringify(stuck));
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
  if (options.json) {
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
};

export const showRun: Command = async ({ client, run, options, print, now }) => {
  const detail = (await client.get(`/runs/${encodeURIComponent(run)}`)) as RunDetail;
  if (options.json) {
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
};

export const cancelRun: Command = async (context) => {
  const { state } = (await context.client.post(`/runs/${encodeURIComponent(context.run)}/cancel`)) as {
    readonly state: string;
  };
  const isEnding = state === 'running' || state === 'waiting';
  report(context, { executionId: context.run, state }, `${context.run}: ${isEnding ? 'will be cancelled' : state}`);
};

/** Resumes a parked run, and repeats one that has ended. */
export const retryRun: Command = async (context) => {
  const { client, run } = context;
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
};

/** Without `--outcome`, lists what waits for a decision. */
export const reviewCalls: Command = async (context) => {
  const { options, print, run, now } = context;
  if (options.outcome === undefined) {
    const waiting = (await readInbox(context, ['review', 'approval', 'external'])).filter(
      ({ executionId }) => run === '' || executionId === run,
    );
    if (options.json) print(JSON.stringify(waiting));
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
    return;
  }
  // Checked when the arguments were read.
  await decide(context, options.outcome as Outcome);
};

async function decide(context: RunsContext, outcome: Outcome): Promise<void> {
  const { client, run, options } = context;
  const { toolCalls } = (await client.get(`/runs/${encodeURIComponent(run)}`)) as RunDetail;
  const call = chosenCall(toolCalls, run, options.call);
  const path = `/runs/${encodeURIComponent(run)}`;
  const shown = { callId: call.callId, argumentsHash: call.argumentsHash };
  const reason = options.reason === undefined ? {} : { reason: options.reason };
  const decided = await ((): Promise<unknown> => {
    switch (outcome) {
      case 'approve':
        return client.post(`${path}/approve`, shown);
      case 'rerun':
        return client.post(`${path}/approve`, { ...shown, startTime: call.startTime });
      case 'reject':
      case 'unknown':
        return client.post(`${path}/reject`, { ...shown, ...reason });
      case 'result':
        return client.post(`${path}/tool-results`, { callId: call.callId, output: options.result ?? '' });
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
  { client, options }: RunsContext,
  kinds: readonly InboxEntry['kind'][],
): Promise<readonly InboxEntry[]> {
  const limit = options.limit ?? '200';
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

function report({ options, print }: RunsContext, answer: unknown, line: string): void {
  print(options.json ? JSON.stringify(answer) : line);
}
