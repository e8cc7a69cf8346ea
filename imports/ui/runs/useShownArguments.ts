/** Nobody approves what they have not been shown: the first approval of cut arguments shows all of them instead. */
import { useCallback, useState } from 'react';
import { isCutOff } from './CallArguments';
import type { CallArgumentsProps } from './CallArguments';

export interface ShownArguments {
  readonly isComplete: boolean;
  readonly showAll: () => void;
  /** Why an approval was not carried out. */
  readonly notice: string | undefined;
  /** @returns whether the approval may be carried out */
  readonly mayApprove: () => boolean;
}

const NOTICE = 'These are the complete arguments. Approve again if they are right.';

export function useShownArguments(call: CallArgumentsProps['call']): ShownArguments {
  const [isComplete, setComplete] = useState(false);
  const [notice, setNotice] = useState<string>();
  const isHidden = isCutOff(call) && !isComplete;
  const mayApprove = useCallback((): boolean => {
    if (!isHidden) return true;
    setComplete(true);
    setNotice(NOTICE);
    return false;
  }, [isHidden]);
  return { isComplete, showAll: useCallback(() => setComplete(true), []), notice, mayApprove };
}
