/** What a tool that has begun asks. It may come from a stranger, so nothing in it is a link. */
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';
import { FoldedText } from '../components/FoldedText';
import { JsonTree } from '../components/JsonTree';
import { showHidden } from '../format/hiddenCharacters';

export function CallInput({ input }: { readonly input: NonNullable<ToolCallView['input']> }) {
  return (
    <>
      <h3>Asks</h3>
      <FoldedText className="call-input" text={showHidden(input.message)} label="what the tool asks" />
      {input.url !== undefined && <p className="mono">{showHidden(input.url)}</p>}
      {input.schema !== undefined && <JsonTree text={JSON.stringify(input.schema)} label="the answer’s schema" />}
    </>
  );
}
