/** @throws the system's error if it can't listen */
export function startMiniMongod(options?: {
  readonly host?: string;
  /** Default: a free one. */
  readonly port?: number;
  readonly replicaSet?: boolean;
  readonly log?: boolean;
}): Promise<{ readonly url: string; readonly stop: () => Promise<void> }>;
