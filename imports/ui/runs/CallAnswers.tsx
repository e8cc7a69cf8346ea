/** What a tool has asked people, and what they have answered. */
import type { AnsweredInput } from '../../business/ai/domain/entities/Tool';
import { FoldedText } from '../components/FoldedText';
import { JsonTree } from '../components/JsonTree';
import { formatDateTime } from '../format/format';
import { showHidden } from '../format/hiddenCharacters';

export function CallAnswers({ answers }: { readonly answers: readonly AnsweredInput[] }) {
  return (
    <>
      <h3>Asked</h3>
      <ol className="call-answers">
        {answers.map(({ input, answer, answeredAt }) => (
          <li key={input.id} data-answer={answer.action}>
            <FoldedText className="call-input" text={showHidden(input.message)} label="what the tool asked" />
            <p className="muted">
              {answer.action === 'accept' ? 'Answered' : 'Declined'} {formatDateTime(answeredAt)}
            </p>
            {answer.action === 'decline' && (
              <FoldedText className="call-answer" text={showHidden(answer.reason)} label="why it was declined" />
            )}
            {answer.action === 'accept' && input.schema !== undefined && (
              <JsonTree text={answer.values} label="the answer" />
            )}
          </li>
        ))}
      </ol>
    </>
  );
}
