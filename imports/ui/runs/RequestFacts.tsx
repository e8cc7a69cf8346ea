/** One model call in full: tokens by kind, cost, attempts and ids. */
import type { ReactNode } from 'react';
import type { GuardrailAnnotation } from '../../business/ai/domain/types/GuardrailAnnotation';
import type { RequestView } from '../../business/ai/domain/types/RequestRecords';
import { formatCount, formatDateTime, formatDuration, formatMoney } from '../format/format';
import { RequestRoute } from '../requests/RequestRoute';
import { CopyButton } from '../components/CopyButton';
import { FoldedText } from '../components/FoldedText';

export interface RequestFactsProps {
  readonly request: RequestView;
  /** Default: true. */
  readonly showsRoute?: boolean;
  /** Why the prompt was not read from the vendor's cache. Absent: it was, or nothing is known of it. */
  readonly cacheMiss?: string | undefined;
}

export function RequestFacts({ request, showsRoute = true, cacheMiss }: RequestFactsProps) {
  const { usage, error, warnings = [], attempts, vendorRequestId, httpRequestId } = request;
  const { cached_tokens, cache_write_tokens } = usage.input_tokens_details;
  const { reasoning_tokens } = usage.output_tokens_details;
  return (
    <>
      <dl className="request-facts">
        <Fact name="Answered by">
          <bdi>{[request.providerId, request.model].filter((part) => part !== undefined).join(' / ') || 'nobody'}</bdi>
        </Fact>
        {request.cached === true && <Fact name="Response cache">an earlier response to the same request</Fact>}
        <Fact name="Started">{formatDateTime(request.at)}</Fact>
        <Fact name="Duration">
          {formatDuration(request.duration)}
          {request.timeToFirstToken !== undefined && `, first token after ${formatDuration(request.timeToFirstToken)}`}
        </Fact>
        <Fact name="Tokens">
          {tokens(usage.input_tokens, 'input')}
          {cached_tokens > 0 && `, ${tokens(cached_tokens, 'of them cached')}`}
          {cache_write_tokens > 0 && `, ${tokens(cache_write_tokens, 'written to the cache')}`}
          {`; ${tokens(usage.output_tokens, 'output')}`}
          {reasoning_tokens > 0 && `, ${tokens(reasoning_tokens, 'of them reasoning')}`}
          {usage.estimated === true && ' (estimated: the call was cut off)'}
        </Fact>
        {cacheMiss !== undefined && <Fact name="Prompt cache">missed: {cacheMiss}</Fact>}
        {usage.server_tool_use !== undefined && (
          <Fact name="Vendor’s tools">
            {Object.entries(usage.server_tool_use)
              .map(([tool, uses]) => `${tool} ${formatCount(uses)}`)
              .join(', ')}
          </Fact>
        )}
        <Fact name="Cost">{costOf(request)}</Fact>
        <Fact name="State">
          {request.state}
          {request.status !== undefined && `, HTTP ${request.status}`}
          {request.finishReason !== undefined && (
            <>
              , finish reason <bdi className="mono">{request.finishReason}</bdi>
            </>
          )}
        </Fact>
        {request.annotations !== undefined && (
          <Fact name="Guardrails">{request.annotations.map(describeAnnotation).join('; ')}</Fact>
        )}
        {vendorRequestId !== undefined && <IdFact name="Vendor’s request id" id={vendorRequestId} />}
        {request.responseId !== undefined && <IdFact name="Response id" id={request.responseId} />}
        {httpRequestId !== undefined && <IdFact name="Our request id" id={httpRequestId} />}
      </dl>
      {error !== undefined && (
        <div className="call-error">
          <strong className="mono">{error.code}</strong> <FoldedText text={error.message} label="the error" />
        </div>
      )}
      {attempts.length > 0 && showsRoute && (
        <>
          <h3>Attempts</h3>
          <RequestRoute request={request} />
        </>
      )}
      {warnings.length > 0 && (
        <>
          <h3>Sent differently</h3>
          <ul className="attempts">
            {warnings.map((warning, index) => (
              <li key={index} dir="auto">
                {warning}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function IdFact({ name, id }: { readonly name: string; readonly id: string }) {
  return (
    <Fact name={name}>
      <bdi className="mono">{id}</bdi> <CopyButton text={id} label={`the ${name.toLowerCase()}`} />
    </Fact>
  );
}

/** A request without tokens was refused, or failed before it was billed. */
function costOf({ cost, unpriced, usage }: RequestView): string {
  if (unpriced !== undefined)
    return `${cost === undefined ? 'Unknown' : `${formatMoney(cost)} and unknown`}: ${unpriced}`;
  if (cost !== undefined) return formatMoney(cost);
  return usage.total_tokens === 0 ? 'None, no tokens were reported' : 'Unknown: no price was recorded';
}

function tokens(amount: number, kind: string): string {
  return `${formatCount(amount)} ${kind}`;
}

function describeAnnotation({ guardrail, stage, action, reason, details }: GuardrailAnnotation): string {
  const what = `${guardrail}: ${action} (${stage})`;
  const facts = [
    ...(reason === undefined ? [] : [reason]),
    ...(details === undefined ? [] : [JSON.stringify(details)]),
  ];
  return facts.length === 0 ? what : `${what}: ${facts.join(' ')}`;
}
