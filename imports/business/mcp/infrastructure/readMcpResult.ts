/** The result of a server's tool as a tool's value: text, or JSON, and images. */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import { isImage } from '../../ai/domain/entities/shownImages';
import { ImageResult } from '../../ai/domain/entities/ImageResult';
import { ToolError } from '../../ai/domain/errors/LLMErrors';
import type { InputImage } from '../../ai/domain/types/ResponsesAPITypes';

/**
 * Structured content counts if there is any, because text beside it repeats it. Images are described and shown; sound
 * and other files are described only.
 * @throws ToolError for a result that the server marked as an error
 */
export function readMcpResult({ content, structuredContent, isError }: CallToolResult): unknown {
  const text = content.map(textOf).join('\n');
  if (isError === true) throw new ToolError('threw', text === '' ? 'The tool reported an error without a text.' : text);
  const images = content.flatMap(imageOf);
  const value = valueOf(text, content, structuredContent);
  return images.length === 0 ? value : new ImageResult(value, images);
}

function valueOf(text: string, content: readonly ContentBlock[], structuredContent: unknown): unknown {
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
      return describe(block.type, block.mimeType, block.data, imageOf(block).length > 0);
    case 'resource_link':
      return `[resource ${block.uri}: ${block.description ?? block.title ?? block.name}]`;
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return resource.text;
      return describe(`resource ${resource.uri}`, resource.mimeType, resource.blob, imageOf(block).length > 0);
    }
  }
}

/** @returns nothing for what is not an image, whatever the server says that it is */
function imageOf(block: ContentBlock): readonly InputImage[] {
  const [mimeType = '', data] =
    block.type === 'image'
      ? [block.mimeType, block.data]
      : block.type === 'resource' && 'blob' in block.resource
        ? [block.resource.mimeType, block.resource.blob]
        : [];
  const image_url = `data:${mimeType.toLowerCase()};base64,${data ?? ''}`;
  return isImage(image_url) ? [{ type: 'input_image', image_url }] : [];
}

function describe(kind: string, mimeType: string | undefined, base64: string, isShown: boolean): string {
  const bytes = Math.floor((base64.replace(/=+$/, '').length * 3) / 4);
  return `[${kind}${mimeType === undefined ? '' : ` of the type ${mimeType}`}, ${bytes} bytes${isShown ? '' : ', not shown'}]`;
}
