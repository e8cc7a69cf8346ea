/** Results of calls in the protocol's form. */
import { expect } from 'chai';
import { toMcpResult } from '../../../../imports/business/mcp/api/McpTools';
import type { ToolCall } from '../../../../imports/business/ai/domain/entities/Tool';

describe('a result over MCP', () => {
  it('has the images that the tool shows after its text', () => {
    const call = {
      ...{ state: 'completed', name: 'draw', result: 'A pixel.' },
      images: [{ type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' }],
    } as unknown as ToolCall;
    expect(toMcpResult(call)).to.deep.equal({
      content: [
        { type: 'text', text: 'A pixel.' },
        { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' },
      ],
    });
  });
});
