/** A source of runs that a test fills, for the clients of frameworks. */
import { RUN } from '../unit/ui/records';
import type { RunState } from '../../imports/business/ai/domain/entities/Run';
import type { Loaded, RunData, RunDetails } from '../../imports/ui/data/DashboardData';
import { Observable } from '../../imports/ui/data/Observable';
import type { ReadonlyObservable } from '../../imports/ui/data/Observable';
import type { RunView } from '../../imports/business/ai/domain/types/RunViews';

export class FakeRunData implements RunData {
  /** The arguments of the commands that were carried out. */
  readonly called: { readonly name: string; readonly argument: object }[] = [];
  /** Who subscribes to runs and lists of runs. */
  subscribers = 0;
  readonly session = new Observable('ann');
  private readonly runs = new Map<string | undefined, Observable<Loaded<RunDetails | undefined>>>();
  private readonly lists = new Map<string, Observable<Loaded<readonly RunView[]>>>();

  readonly run = (executionId: string | undefined): ReadonlyObservable<Loaded<RunDetails | undefined>> =>
    this.counted(this.stored(executionId));

  readonly conversationRuns = (id: string): ReadonlyObservable<Loaded<readonly RunView[]>> =>
    this.counted(this.list(id));

  readonly query: RunData['query'] = () => new Observable<{ readonly state: 'loading' }>({ state: 'loading' });

  /** Starts a run, which is given the name of the conversation. */
  readonly call: RunData['call'] = (name, argument) => {
    this.called.push({ name, argument });
    const { conversationId = '' } = argument as { readonly conversationId?: string };
    if (name === 'ai.runs.start') this.setText(conversationId, '', 'running');
    // Nothing else of a result is read.
    return Promise.resolve({ executionId: conversationId } as never);
  };

  /** What the model has written in a run. */
  setText(executionId: string, text: string, state: RunState): void {
    const run = { ...RUN, _id: executionId, state, conversationId: executionId };
    const details: RunDetails = {
      run,
      items: [],
      calls: [],
      liveText: { text, reasoning: '' },
      turns: new Map(),
      log: [],
      argumentHashes: new Map(),
    };
    this.list(executionId).set({ state: 'ready', value: [run] });
    this.stored(executionId).set({ state: 'ready', value: details });
  }

  private stored(executionId: string | undefined): Observable<Loaded<RunDetails | undefined>> {
    const run = this.runs.get(executionId) ?? new Observable({ state: 'ready', value: undefined });
    this.runs.set(executionId, run);
    return run;
  }

  private list(conversationId: string): Observable<Loaded<readonly RunView[]>> {
    const list = this.lists.get(conversationId) ?? new Observable({ state: 'ready', value: [] });
    this.lists.set(conversationId, list);
    return list;
  }

  private counted<T>({ get, subscribe }: ReadonlyObservable<T>): ReadonlyObservable<T> {
    return {
      get,
      subscribe: (listener) => {
        this.subscribers += 1;
        const unsubscribe = subscribe(listener);
        return () => {
          this.subscribers -= 1;
          unsubscribe();
        };
      },
    };
  }
}

/** Runs a test as in a page, and only that: SDKs of vendors refuse to work where they see a browser. */
export async function inPage(test: () => void | Promise<void>): Promise<void> {
  Object.assign(globalThis, { window: globalThis });
  try {
    await test();
  } finally {
    Reflect.deleteProperty(globalThis, 'window');
  }
}
