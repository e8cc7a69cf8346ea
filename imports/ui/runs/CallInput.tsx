/** What a running tool asks. It may come from a stranger, so nothing in it is a link that leaves the dashboard. */
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';
import { FoldedText } from '../components/FoldedText';
import { JsonTree } from '../components/JsonTree';
import { showHidden } from '../format/hiddenCharacters';
import { linkTo } from '../shell/route';

export function CallInput({ input }: { readonly input: NonNullable<ToolCallView['input']> }) {
  const server = input.url === undefined ? undefined : serverIn(input.url);
  return (
    <>
      <h3>Asks</h3>
      <FoldedText className="call-input" text={showHidden(input.message)} label="what the tool asks" />
      {server !== undefined && (
        <p>
          <a href={linkTo(['mcp-servers', server])}>
            Your account at <bdi>{server}</bdi>
          </a>
        </p>
      )}
      {input.url !== undefined && server === undefined && <p className="mono">{showHidden(input.url)}</p>}
      {input.schema !== undefined && <JsonTree text={JSON.stringify(input.schema)} label="the answer’s schema" />}
    </>
  );
}

/** @returns the name of an MCP server if the URL is that of its page in this dashboard */
function serverIn(url: string): string | undefined {
  const { origin } = window.location;
  return url.startsWith(`${origin}/`)
    ? /^\/#\/mcp-servers\/([\w-]{1,32})$/.exec(url.slice(origin.length))?.[1]
    : undefined;
}
