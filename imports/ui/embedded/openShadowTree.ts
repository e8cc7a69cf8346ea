/** Keeps the dashboard and the page of an app apart: neither one's style sheets reach the other's elements. */
import { enterShadowTree } from '../shell/uiRoot';
import { DASHBOARD_CSS } from './dashboardCss';

/** Ends the inheritance of fonts, colours and spacing. The page cannot overrule what is important in a shadow tree. */
const HOST_CSS = ':host { all: initial !important; display: block !important; }';

export function openShadowTree(host: HTMLElement): ShadowRoot {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(HOST_CSS + DASHBOARD_CSS);
  root.adoptedStyleSheets = [sheet];
  enterShadowTree(root);
  return root;
}
