/** Skills that an MCP server offers as resources: each whose address ends in `/SKILL.md`, and those beside it. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import type { McpSource } from '../../business/mcp/infrastructure/McpSource';
import type { SkillFiles } from './SkillFiles';

/** @param server such as `mcp` returns. What it says becomes instructions, so it must be trusted */
export function mcpSkillFiles(server: Pick<McpSource, 'listResources' | 'readResource'>): SkillFiles {
  return {
    list: async () => (await server.listResources()).map(({ uri }) => uri),
    read: async (path) => {
      const [content] = await server.readResource(path);
      if (content === undefined) throw new LLMInvalidRequestError(`The resource "${path}" is empty.`, { path: 'path' });
      return 'text' in content ? content.text : Buffer.from(content.blob, 'base64');
    },
  };
}
