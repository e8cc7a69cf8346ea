/**
 * The order in which a host stops. Its runs are handed over as soon as their tools have ended, while requests that have
 * nothing to do with runs may take the rest of the time.
 */
import type { HttpApi } from '../api/createHttpApi';
import type { AIModule } from '../business/ai/infrastructure/factories/createAIModule';

export interface HostShutdownPorts {
  readonly api: Pick<HttpApi, 'startLeaving' | 'close'>;
  readonly module: Pick<AIModule, 'drain' | 'close' | 'usageSettled'>;
  /** Called when clients of streams are about to be sent to other processes. */
  readonly onDrain?: () => void;
  /** Milliseconds for which everything goes on, so that load balancers notice that the server is not ready any more. */
  readonly noticeMs?: number;
  /** Milliseconds that are waited for what is in progress. */
  readonly graceMs: number;
}

export class HostShutdown {
  private readonly ports: HostShutdownPorts;
  /** Fires when the grace is over. */
  private readonly over = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private requestsEnded: Promise<void> | undefined;
  private drained: Promise<void> | undefined;

  constructor(ports: HostShutdownPorts) {
    this.ports = ports;
  }

  /**
   * Nothing new is taken from now on, or once the notice is over. Resolves when the model calls and tools of runs have
   * ended, or the grace is over.
   * @param hurry ends the notice and the grace
   */
  drain(hurry?: AbortSignal): Promise<void> {
    this.drained ??= this.begin(hurry);
    return this.drained;
  }

  /** Resolves when other processes may continue the runs, and all requests have ended. @param hurry as in `drain` */
  async handOver(hurry?: AbortSignal): Promise<void> {
    const { module } = this.ports;
    await this.drain(hurry);
    await module.close(this.over.signal);
    await this.requestsEnded;
    // What the last requests have used.
    await module.usageSettled();
    clearTimeout(this.timer);
  }

  private begin(hurry: AbortSignal | undefined): Promise<void> {
    const { api, noticeMs = 0 } = this.ports;
    api.startLeaving();
    return noticeMs === 0 ? this.drainNow(hurry) : this.notice(noticeMs, hurry).then(() => this.drainNow(hurry));
  }

  private async notice(ms: number, hurry: AbortSignal | undefined): Promise<void> {
    if (hurry?.aborted === true) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      const end = (): void => {
        clearTimeout(timer);
        resolve();
      };
      hurry?.addEventListener('abort', end, { once: true });
    });
  }

  private drainNow(hurry: AbortSignal | undefined): Promise<void> {
    const { api, module, graceMs } = this.ports;
    this.ports.onDrain?.();
    const end = (): void => this.over.abort();
    this.timer = setTimeout(end, graceMs);
    if (hurry?.aborted === true) end();
    hurry?.addEventListener('abort', end, { once: true });
    this.requestsEnded = api.close(hurry);
    return module.drain(this.over.signal);
  }
}
