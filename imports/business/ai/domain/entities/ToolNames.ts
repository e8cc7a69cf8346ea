/** Tools by type and name, so that thousands are looked up in one step each. */
export class ToolNames {
  /** The names of each type. A tool without a name stands for every one of its type. */
  private readonly names = new Map<unknown, Set<unknown>>();

  constructor(tools: Iterable<{ readonly type?: unknown; readonly name?: unknown }>) {
    for (const { type, name } of tools) {
      const names = this.names.get(type) ?? new Set();
      names.add(name);
      this.names.set(type, names);
    }
  }

  hasType(type: string): boolean {
    return this.names.has(type);
  }

  has({ type, name }: { readonly type: string; readonly name?: unknown }): boolean {
    const names = this.names.get(type);
    return names !== undefined && (names.has(undefined) || names.has(name));
  }
}
