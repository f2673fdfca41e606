// The texts of the page, in two languages.

const EN = {
  title: "Gongzhu arena", newGame: "New game", yourName: "Your name", yourSeat: "Your seat",
  seat: "Seat {seat}", left: "On your left", partner: "Your partner", right: "On your right",
  openSeat: "free for somebody", timePerMove: "Time for a move", seconds: "{n} seconds",
  minutes: "{n} minutes", withAnalysis: "Show what ScrofaZero thinks", play: "Play",
  openTables: "Tables with free seats", noTables: "None at the moment.", sit: "Sit at seat {seat}",
  rulesTitle: "The rules in short",
  rules: "Seats 1 and 3 play against seats 2 and 4. Follow suit if you can; the highest card of " +
    "the suit led takes the trick. Hearts count against you: A −50, K −40, Q −30, J −20, 10 to 5 " +
    "−10 each. ♠Q, the pig: −100. ♦J, the sheep: +100. ♣10 doubles what you have taken; alone it " +
    "is +50. All thirteen hearts together are +200.",
  table: "Table", yourHand: "Your hand", ready: "Ready", lastTrick: "Last trick",
  analysis: "Analysis", leave: "Leave", invite: "Others can join with this link:",
  inviteLink: "Link to join", gameOver: "Game over", nextGame: "Next game", replay: "Replay",
  download: "Download", first: "To the start", back: "One move back", move: "Move",
  forward: "One move on", last: "To the end", close: "Close", standings: "Standings",
  standingsHelp: "Mean margin per deal of a player's team over its opponents in duplicate " +
    "matches, with its standard error.",
  downloads: "Downloads", allGames: "All games", yourTurn: "Your turn: choose a card.",
  waitFor: "{name} is thinking …", waitReady: "Waiting for the others to be ready …",
  waitSeats: "Waiting for somebody to sit down …", gameEnded: "The game is over.",
  player: "Player", thisGame: "This game", total: "Total", teamA: "Team of seats 1 and 3",
  teamB: "Team of seats 2 and 4", you: "you", away: "away", taken: "Point cards taken",
  noTrick: "There is no finished trick yet.", tookIt: "{name} took it.",
  byClock: "The time was up: the lowest card was played.", connectionLost:
    "The connection is lost; trying again …", replaced: "This seat is open in another window.",
  tableClosed: "The table is closed: {reason}", analysing: "Thinking …",
  forced: "There is no choice.", qTitle: "Expected points of your team, for each card",
  ownersTitle: "Who holds the unseen point cards", plays: "{name} plays {card}",
  wouldPlay: "ScrofaZero would play {card}.", start: "The start of the game.",
  mean: "Mean", error: "Error", deals: "Deals", winRate: "Wins", noMatches: "No match yet.",
  noAnalysis: "No analysis: {reason}", suitS: "of spades", suitH: "of hearts", suitD: "of diamonds",
  suitC: "of clubs", rankJ: "Jack", rankQ: "Queen", rankK: "King", rankA: "Ace", cardName:
    "{rank} {suit}", notLegal: "not allowed now", playerRandom: "Mr. Random", playerIf: "Mr. If",
  playerGreed: "Mr. Greed", playerScrofa: "ScrofaZero", playerStrong:
    "ScrofaZero, strong", playerSimple: "ScrofaZero, simple", playerRaw: "ScrofaZero, no search",
  playerPolicy: "ScrofaZero, policy only", won: "Your team wins by {n} points.",
  lost: "Your team loses by {n} points.", drawn: "A draw.", "error.full":
    "The server is full; please try again later.", "error.taken": "That name or seat is taken.",
  "error.forbidden": "That is not allowed.", "error.unknown": "That table is no more.",
};

const ZH = {
  title: "拱猪竞技场", newGame: "新牌局", yourName: "你的名字", yourSeat: "你的座位",
  seat: "{seat}号位", left: "你的左家", partner: "你的搭档", right: "你的右家",
  openSeat: "留给他人", timePerMove: "每步时限", seconds: "{n}秒", minutes: "{n}分钟",
  withAnalysis: "显示 ScrofaZero 的想法", play: "开始", openTables: "有空位的牌桌",
  noTables: "暂时没有。", sit: "坐{seat}号位", rulesTitle: "规则简介",
  rules: "1、3号位对2、4号位。有同花色必须跟牌；首出花色中最大的牌赢得这一墩。红桃扣分：A −50，" +
    "K −40，Q −30，J −20，10到5各 −10。♠Q是猪：−100。♦J是羊：+100。♣10是变压器：所得分加倍，" +
    "单独拿到则 +50。拿全十三张红桃为 +200。",
  table: "牌桌", yourHand: "你的手牌", ready: "准备", lastTrick: "上一墩", analysis: "分析",
  leave: "离开", invite: "他人可用此链接加入：", inviteLink: "加入链接", gameOver: "本局结束",
  nextGame: "下一局", replay: "回放", download: "下载", first: "到开头", back: "后退一步",
  move: "步", forward: "前进一步", last: "到结尾", close: "关闭", standings: "排行榜",
  standingsHelp: "复式比赛中每副牌本队净胜分的平均值及标准误差。", downloads: "下载",
  allGames: "全部牌局", yourTurn: "轮到你出牌。", waitFor: "{name} 正在思考……",
  waitReady: "等待其他人准备……", waitSeats: "等待他人入座……", gameEnded: "本局已结束。",
  player: "玩家", thisGame: "本局", total: "总分", teamA: "1、3号位队", teamB: "2、4号位队",
  you: "你", away: "离线", taken: "所得分牌", noTrick: "还没有完成的一墩。",
  tookIt: "{name} 赢得这一墩。", byClock: "超时：自动出了最小的牌。",
  connectionLost: "连接中断，正在重试……", replaced: "此座位已在另一窗口打开。",
  tableClosed: "牌桌已关闭：{reason}", analysing: "思考中……", forced: "别无选择。",
  qTitle: "每张牌对应的本队期望得分", ownersTitle: "未见分牌在谁手中", plays: "{name} 出 {card}",
  wouldPlay: "ScrofaZero 会出 {card}。", start: "牌局开始。", mean: "平均", error: "误差",
  deals: "副数", winRate: "胜率", noMatches: "还没有比赛。", noAnalysis: "无法分析：{reason}",
  suitS: "黑桃", suitH: "红桃", suitD: "方块", suitC: "梅花", rankJ: "J", rankQ: "Q", rankK: "K",
  rankA: "A", cardName: "{suit}{rank}", notLegal: "现在不能出", playerRandom: "随机先生",
  playerIf: "规则先生", playerGreed: "贪心先生", playerScrofa: "ScrofaZero",
  playerStrong: "ScrofaZero 强", playerSimple: "ScrofaZero 简", playerRaw: "ScrofaZero 无搜索",
  playerPolicy: "ScrofaZero 仅策略",
  won: "你们队赢 {n} 分。", lost: "你们队输 {n} 分。", drawn: "平局。",
  "error.full": "服务器已满，请稍后再试。", "error.taken": "名字或座位已被占用。",
  "error.forbidden": "不允许这样做。", "error.unknown": "该牌桌已不存在。",
};

export const TEXTS = { en: EN, zh: ZH };
let language = "en";

export const currentLanguage = () => language;

export function setLanguage(chosen) {
  language = chosen in TEXTS ? chosen : "en";
}

export const has = (key) => key in TEXTS[language];

export function t(key, values = {}) {
  const text = TEXTS[language][key] ?? TEXTS.en[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}

/** The name of a card in words, for those who hear the page. */
export function spokenCard(card) {
  const rank = card.slice(1);
  const word = has(`rank${rank}`) ? t(`rank${rank}`) : rank;
  return t("cardName", { rank: word, suit: t(`suit${card[0]}`) });
}

const PLAYERS = { random: "playerRandom", if: "playerIf", greed: "playerGreed",
  scrofa: "playerScrofa", "scrofa-strong": "playerStrong", "scrofa-simple": "playerSimple",
  raw: "playerRaw", policy: "playerPolicy" };

/** The name of a player of ours; names of clients stay as they are. */
export const playerName = (name) => (name in PLAYERS ? t(PLAYERS[name]) : name);
