/** The `this` of methods and publications, with the types of @types/meteor. */
export interface Connection {
  readonly id: string;
  readonly clientAddress: string;
  readonly httpHeaders: Readonly<Record<string, string>>;
  close(): void;
  onClose(callback: () => void): void;
}

export interface MethodContext {
  readonly isSimulation: boolean;
  readonly userId: string | null;
  /** Null for a call from the server itself. */
  readonly connection: Connection | null;
  unblock(): void;
  setUserId(userId: string | null): Promise<void>;
}

export interface PublicationContext {
  readonly userId: string | null;
  readonly connection: Connection;
  added(collection: string, id: string, fields: object): void;
  changed(collection: string, id: string, fields: object): void;
  removed(collection: string, id: string): void;
  ready(): void;
  onStop(callback: () => unknown): void;
  stop(): void;
  error(error: unknown): void;
  unblock(): void;
}
