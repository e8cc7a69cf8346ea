/** The result of a server's tool as a tool's value: text, or JSON. */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import { ToolError } from '../../../domain/errors/LLMErrors';

/**
 * Structured content counts if there is any, because text beside it repeats it. Images, sound and files are described,
 * since results are text.
 * @throws ToolError for a result that the server marked as an error
 */
export function readMcpResult({ content, structuredContent, isError }: CallToolResult): unknown {
  const text = content.map(textOf).join('\n');
  if (isError === true) throw new ToolError('threw', text === '' ? 'The tool reported an error without a text.' : text);
  if (structuredContent === undefined) return text;
  const media = content.filter(({ type }) => type !== 'text').map(textOf);
  return media.length === 0 ? structuredContent : { structuredContent, content: media };
}

export function textOf(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return describe(block.type, block.mimeType, block.data);
    case 'resource_link':
      return `[resource ${block.uri}: ${block.description ?? block.title ?? block.name}]`;
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return resource.text;
      return describe(`resource ${resource.uri}`, resource.mimeType, resource.blob);
    }
  }
}

function describe(kind: string, mimeType: string | undefined, base64: string): string {
  const bytes = Math.floor((base64.replace(/=+$/, '').length * 3) / 4);
  return `[${kind}${mimeType === undefined ? '' : ` of the type ${mimeType}`}, ${bytes} bytes, not shown]`;
}
