/** Offers of a server's tools those that an admin has approved, as long as they are what was approved. */
import type { Tool } from '@modelcontextprotocol/client';
import type { McpToolApproval } from '../../domain/McpServer';
import { ToolError } from '../../../ai/domain/errors/LLMErrors';
import { omitUndefined } from '../../../ai/domain/util/omitUndefined';
import type { McpToolSettings } from '../McpServerSettings';
import type { McpToolPolicy } from '../McpToolPolicy';
import { readDefinition } from './toolDefinition';
import type { ListedTool } from './toolDefinition';

export class ToolReview implements McpToolPolicy {
  private approvals: ReadonlyMap<string, McpToolApproval>;
  private listedTools: ReadonlyMap<string, ListedTool> = new Map();
  private hasListed = false;
  private readonly onListed: () => void;

  /** @param onListed called when the server lists other tools than before */
  constructor(approvals: readonly McpToolApproval[], onListed: () => void) {
    this.approvals = byTool(approvals);
    this.onListed = onListed;
  }

  /** What the server has listed last, by its names of the tools; undefined before it has. */
  get listed(): ReadonlyMap<string, ListedTool> | undefined {
    return this.hasListed ? this.listedTools : undefined;
  }

  setApprovals(approvals: readonly McpToolApproval[]): void {
    this.approvals = byTool(approvals);
  }

  review(tools: readonly Tool[]): readonly Tool[] {
    const listed = new Map(tools.map((tool) => [tool.name, readDefinition(tool)]));
    const isSame =
      this.hasListed &&
      listed.size === this.listedTools.size &&
      [...listed].every(([name, { hash }]) => this.listedTools.get(name)?.hash === hash);
    this.listedTools = listed;
    this.hasListed = true;
    if (!isSame) this.onListed();
    return tools.filter(({ name }) => this.isOffered(name, listed.get(name)?.hash));
  }

  settingsOf(name: string): McpToolSettings {
    const { needsApproval, blocking } = this.approvals.get(name) ?? {};
    return omitUndefined({ needsApproval, blocking });
  }

  assertPermitted(tool: Tool): void {
    const { hash } = readDefinition(tool);
    if (this.isOffered(tool.name, hash) && this.listedTools.get(tool.name)?.hash === hash) return;
    throw new ToolError(
      'unknown-tool',
      `The tool "${tool.name}" is switched off, or is not what an administrator has approved.`,
    );
  }

  private isOffered(name: string, hash: string | undefined): boolean {
    const approval = this.approvals.get(name);
    return approval?.enabled === true && approval.hash === hash;
  }
}

function byTool(approvals: readonly McpToolApproval[]): ReadonlyMap<string, McpToolApproval> {
  return new Map(approvals.map((approval) => [approval.tool, approval]));
}
