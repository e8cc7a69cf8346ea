/**
 * The publication `ai.providers` for any transport: sends the user's providers as added, changed and removed documents,
 * with the fields of the public view only.
 */
import type { PublicProvider } from '../../domain/entities/PublicProvider';
import type { Actor } from '../../../ai/domain/types/Actor';

/** The collection under which the documents are published. */
export const PROVIDERS_COLLECTION = 'ai_providers';

export interface PublicationSink {
  added(id: string, fields: object): void;
  changed(id: string, fields: object): void;
  removed(id: string): void;
  ready(): void;
}

export interface ProvidersPublicationPorts {
  /** Called for every refresh, since roles change. Resolves to undefined for a deleted user. */
  readonly findActor: () => Promise<Actor | undefined>;
  readonly list: (actor: Actor) => Promise<readonly PublicProvider[]>;
  readonly sink: PublicationSink;
}

export class ProvidersPublication {
  private readonly ports: ProvidersPublicationPorts;
  private sent = new Map<string, PublicProvider>();
  private running: Promise<void> | undefined;
  private isStale = false;
  private isStopped = false;

  constructor(ports: ProvidersPublicationPorts) {
    this.ports = ports;
  }

  /** Sends the current providers. */
  async start(): Promise<void> {
    await this.refresh();
    if (!this.isStopped) this.ports.sink.ready();
  }

  /** Sends what has changed. Calls during a refresh are merged into one further refresh. */
  refresh(): Promise<void> {
    this.isStale = true;
    this.running ??= this.run().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  stop(): void {
    this.isStopped = true;
  }

  private async run(): Promise<void> {
    while (this.isStale && !this.isStopped) {
      this.isStale = false;
      const actor = await this.ports.findActor();
      this.send(actor === undefined ? [] : await this.ports.list(actor));
    }
  }

  private send(views: readonly PublicProvider[]): void {
    if (this.isStopped) return;
    const { sink } = this.ports;
    const next = new Map(views.map((view) => [view._id, view]));
    for (const id of this.sent.keys()) if (!next.has(id)) sink.removed(id);
    for (const [id, view] of next) {
      const before = this.sent.get(id);
      const { _id, ...fields } = view;
      if (before === undefined) sink.added(id, fields);
      else if (JSON.stringify(before) !== JSON.stringify(view))
        sink.changed(id, { ...cleared(before, view), ...fields });
    }
    this.sent = next;
  }
}

/** Removed fields, which DDP expects as undefined. */
function cleared(before: PublicProvider, view: PublicProvider): object {
  return Object.fromEntries(Object.keys(before).flatMap((name) => (name in view ? [] : [[name, undefined]])));
}
