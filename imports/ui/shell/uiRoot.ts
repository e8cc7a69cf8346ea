/** The tree that the dashboard's elements are in: the page, or the shadow tree that keeps it apart from an app. */

let shadow: ShadowRoot | undefined;

/** What has the focused element and finds elements by id and by selector, as the dashboard sees them. */
export function uiRoot(): Document | ShadowRoot {
  return shadow?.isConnected === true ? shadow : document;
}

/** @param root the shadow tree that the dashboard is rendered in from now on */
export function enterShadowTree(root: ShadowRoot): void {
  shadow = root;
}

/** The element that an event happened at. Listeners of the page see the host of a shadow tree as its target. */
export function targetOf(event: Event): Element | undefined {
  const [target] = event.composedPath();
  return target instanceof Element ? target : undefined;
}
