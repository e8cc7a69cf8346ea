/** A subscription as a reactive value: whether its documents have arrived, and why it ended. */
import type { SubscriptionError } from './BrowserPackages';
import type { MeteorSource } from './MeteorSource';
import { SharedSource } from './SharedSource';

export interface SubscriptionStatus {
  /** The first documents have not arrived yet. */
  readonly isLoading: boolean;
  /** Why the server refused or ended the subscription. */
  readonly error: SubscriptionError | undefined;
  /** Subscribes again after an error. */
  readonly retry: () => void;
}

/** Subscribes while the computation runs. Computations with the same name and argument share one subscription. */
export function trackSubscription(source: MeteorSource, name: string, argument: object): SubscriptionStatus {
  const key = `subscription ${name} ${JSON.stringify(argument)}`;
  return SharedSource.of(source, key, () => new SharedSubscription(source, key, name, argument)).read();
}

class SharedSubscription extends SharedSource<SubscriptionStatus> {
  private readonly name: string;
  private readonly argument: object;
  private handle: { stop(): void } | undefined;

  constructor(source: MeteorSource, key: string, name: string, argument: object) {
    super(source, key);
    this.name = name;
    this.argument = argument;
  }

  protected start(): void {
    this.handle = this.source.Meteor.subscribe(this.name, this.argument as never, {
      onReady: () => this.update({ isLoading: false }),
      onStop: (error?: SubscriptionError) => {
        if (error !== undefined) this.update({ isLoading: false, error });
      },
    });
  }

  protected stop(): void {
    this.handle?.stop();
    this.handle = undefined;
  }

  protected peek(): SubscriptionStatus {
    return this.loading;
  }

  private readonly retry = (): void => {
    // Only a subscription that is still read and has failed.
    if (this.handle === undefined || this.value?.error === undefined) return;
    this.update({ isLoading: true });
    this.source.Tracker.nonreactive(() => this.start());
  };

  private readonly loading: SubscriptionStatus = { isLoading: true, error: undefined, retry: this.retry };

  private update(status: Pick<SubscriptionStatus, 'isLoading'> & { readonly error?: SubscriptionError }): void {
    this.set({ isLoading: status.isLoading, error: status.error, retry: this.retry });
  }
}
