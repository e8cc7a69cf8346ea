/**
 * Keeps a registry's tools the same as those of one source. A source never replaces a tool that it did not bring, and
 * its tools stay while it cannot be reached.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../../domain/interfaces/Logger';
import type { SourceTool, ToolSource } from '../../domain/interfaces/ToolSource';

/** What the subscription needs of a registry. */
export interface SourceTarget {
  has(name: string): boolean;
  /** @throws LLMInvalidRequestError for an invalid tool */
  put(tool: SourceTool): void;
  remove(name: string): void;
}

export class SourceSubscription {
  readonly source: ToolSource;
  private readonly target: SourceTarget;
  private readonly logger: Logger | undefined;
  /** The source's tools in the registry, by name. */
  private readonly brought = new Map<string, SourceTool>();
  /** Tools whose names are taken, by name. */
  private readonly leftOut = new Map<string, SourceTool>();
  private readonly unsubscribe: () => void;
  private refreshing: Promise<void> | undefined;
  private isStale = false;
  private isClosed = false;

  constructor(source: ToolSource, target: SourceTarget, logger: Logger | undefined) {
    this.source = source;
    this.target = target;
    this.logger = logger;
    this.unsubscribe = source.onChange(() => {
      this.refresh().catch((error: unknown) => {
        this.logger?.warn(`The tools of "${source.name}" could not be listed: ${reasonOf(error)}`);
      });
    });
  }

  get toolNames(): readonly string[] {
    return [...this.brought.keys()];
  }

  /** Names of tools that are not registered because other tools have them. */
  get takenNames(): readonly string[] {
    return [...this.leftOut.keys()];
  }

  /** Registers the tools whose names were taken and are free by now. */
  claimFreeNames(): void {
    for (const [name, tool] of [...this.leftOut]) {
      if (this.isClosed || this.target.has(name)) continue;
      this.leftOut.delete(name);
      this.put(tool);
    }
  }

  /** Resolves when the registry has the tools as they were listed after this call. @throws what listing throws */
  refresh(): Promise<void> {
    this.isStale = true;
    this.refreshing ??= this.listWhileStale().finally(() => {
      this.refreshing = undefined;
    });
    return this.refreshing;
  }

  /** Removes the tools and closes the source. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.unsubscribe();
    this.replace([]);
    await this.source.close();
  }

  private async listWhileStale(): Promise<void> {
    while (this.isStale && !this.isClosed) {
      this.isStale = false;
      this.replace(await this.source.list());
    }
  }

  private replace(given: readonly SourceTool[]): void {
    // A list that arrives after the end.
    const tools = this.isClosed ? [] : given;
    const listed = new Map<string, SourceTool>();
    for (const tool of tools) {
      // The first of a name counts, so that a later one cannot take its place.
      if (listed.has(tool.name)) this.skip(tool.name, 'the source has listed another tool of this name');
      else listed.set(tool.name, tool);
    }
    for (const name of [...this.brought.keys()]) {
      if (listed.has(name)) continue;
      this.target.remove(name);
      this.brought.delete(name);
    }
    this.leftOut.clear();
    for (const tool of listed.values()) this.put(tool);
  }

  private put(tool: SourceTool): void {
    const before = this.brought.get(tool.name);
    if (before !== undefined && isSameDefinition(before, tool)) return;
    if (before === undefined && this.target.has(tool.name)) {
      this.leftOut.set(tool.name, tool);
      this.skip(tool.name, 'another tool of this name is registered');
      return;
    }
    if (before !== undefined) this.target.remove(tool.name);
    this.brought.delete(tool.name);
    try {
      this.target.put(tool);
      this.brought.set(tool.name, tool);
    } catch (error) {
      this.skip(tool.name, reasonOf(error));
    }
  }

  private skip(name: string, reason: string): void {
    this.logger?.warn(`The tool "${name}" of "${this.source.name}" is not registered: ${reason}`);
  }
}

/** Functions do not count: a source may create them anew for each list. */
function isSameDefinition({ execute: a, ...before }: SourceTool, { execute: b, ...after }: SourceTool): boolean {
  if ((a === undefined) !== (b === undefined)) return false;
  return isDeepStrictEqual(withoutFunctions(before), withoutFunctions(after));
}

function withoutFunctions(tool: object): object {
  return Object.fromEntries(
    Object.entries(tool).map(([name, value]) => [name, typeof value === 'function' ? 'function' : value]),
  );
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
