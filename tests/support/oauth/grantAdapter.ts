/**
 * In-memory storage for `oidc-provider`, one map per server, with an optional grace period in which a used refresh
 * token is accepted again.
 */

export interface StoredRow {
  readonly model: string;
  readonly id: string;
  readonly payload: Record<string, unknown>;
}

export type GrantRows = Map<string, StoredRow>;

/** The server instantiates this class once per model. */
type AdapterClass = new (model: string) => object;

export function grantAdapter(reuseGraceMs: number): { readonly adapter: AdapterClass; readonly rows: GrantRows } {
  const rows: GrantRows = new Map();

  class GrantAdapter {
    readonly model: string;

    constructor(model: string) {
      this.model = model;
    }

    async upsert(id: string, payload: Record<string, unknown>): Promise<void> {
      rows.set(`${this.model}:${id}`, { model: this.model, id, payload: { ...payload } });
    }

    async find(id: string): Promise<object | undefined> {
      const payload = rows.get(`${this.model}:${id}`)?.payload;
      if (payload === undefined) return undefined;
      const { consumedAt, ...rest } = payload;
      if (typeof consumedAt !== 'number') return rest;
      return Date.now() - consumedAt < reuseGraceMs ? rest : { ...rest, consumed: Math.floor(consumedAt / 1000) };
    }

    async findByUid(uid: string): Promise<object | undefined> {
      const found = [...rows.values()].find(({ model, payload }) => model === this.model && payload['uid'] === uid);
      return found === undefined ? undefined : this.find(found.id);
    }

    async findByUserCode(): Promise<undefined> {
      return undefined;
    }

    async consume(id: string): Promise<void> {
      const row = rows.get(`${this.model}:${id}`);
      if (row !== undefined) row.payload['consumedAt'] ??= Date.now();
    }

    async destroy(id: string): Promise<void> {
      rows.delete(`${this.model}:${id}`);
    }

    async revokeByGrantId(grantId: string): Promise<void> {
      for (const [key, { model, payload }] of rows)
        if (model === this.model && payload['grantId'] === grantId) rows.delete(key);
    }
  }

  return { adapter: GrantAdapter, rows };
}
