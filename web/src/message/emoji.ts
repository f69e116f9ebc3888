/** Emoji by Slack's names. Unknown names stay plain text. */

const LISTED = `
+1 👍 -1 👎 thumbsup 👍 thumbsdown 👎 ok_hand 👌 clap 👏 wave 👋 pray 🙏 raised_hands 🙌 muscle 💪 point_up ☝️ point_down 👇
point_left 👈 point_right 👉 point_up_2 👆 crossed_fingers 🤞 v ✌️ handshake 🤝 writing_hand ✍️ raising_hand 🙋 shrug 🤷 facepalm 🤦
bow 🙇 eyes 👀 brain 🧠 smile 😄 smiley 😃 grin 😁 grinning 😀 laughing 😆 joy 😂 rofl 🤣 sweat_smile 😅 slightly_smiling_face 🙂
upside_down_face 🙃 wink 😉 blush 😊 innocent 😇 heart_eyes 😍 star-struck 🤩 kissing_heart 😘 yum 😋 stuck_out_tongue 😛
stuck_out_tongue_winking_eye 😜 hugging_face 🤗 thinking_face 🤔 shushing_face 🤫 neutral_face 😐 expressionless 😑 smirk 😏
unamused 😒 face_with_rolling_eyes 🙄 grimacing 😬 relieved 😌 pensive 😔 sleepy 😪 sleeping 😴 mask 😷 exploding_head 🤯
face_with_cowboy_hat 🤠 partying_face 🥳 sunglasses 😎 nerd_face 🤓 confused 😕 worried 😟 slightly_frowning_face 🙁 open_mouth 😮
astonished 😲 flushed 😳 pleading_face 🥺 cry 😢 sob 😭 scream 😱 disappointed 😞 sweat 😓 weary 😩 tired_face 😫 triumph 😤 rage 😡
angry 😠 skull 💀 ghost 👻 robot_face 🤖 poop 💩 heart ❤️ orange_heart 🧡 yellow_heart 💛 green_heart 💚 blue_heart 💙 purple_heart 💜
black_heart 🖤 broken_heart 💔 100 💯 boom 💥 fire 🔥 sparkles ✨ star ⭐ star2 🌟 dizzy 💫 zap ⚡ tada 🎉 confetti_ball 🎊 balloon 🎈
birthday 🎂 gift 🎁 trophy 🏆 medal 🏅 dart 🎯 rocket 🚀 ship 🚢 sailboat ⛵ boat ⛵ anchor ⚓ ferry ⛴️ ocean 🌊 airplane ✈️ car 🚗
bike 🚲 train 🚆 hourglass ⌛ hourglass_flowing_sand ⏳ alarm_clock ⏰ stopwatch ⏱️ calendar 📆 date 📅 warning ⚠️ rotating_light 🚨
construction 🚧 no_entry ⛔ x ❌ white_check_mark ✅ heavy_check_mark ✔️ ballot_box_with_check ☑️ question ❓ exclamation ❗ bangbang ‼️
heavy_plus_sign ➕ heavy_minus_sign ➖ arrow_up ⬆️ arrow_down ⬇️ arrow_left ⬅️ arrow_right ➡️ arrows_counterclockwise 🔄 red_circle 🔴
large_green_circle 🟢 large_yellow_circle 🟡 large_blue_circle 🔵 large_orange_circle 🟠 white_circle ⚪ black_circle ⚫
bulb 💡 bug 🐛 wrench 🔧 hammer 🔨 hammer_and_wrench 🛠️ gear ⚙️ package 📦 memo 📝 pencil2 ✏️ clipboard 📋 pushpin 📌 paperclip 📎
link 🔗 lock 🔒 unlock 🔓 key 🔑 mag 🔍 bell 🔔 no_bell 🔕 loudspeaker 📢 mega 📣 speech_balloon 💬 email 📧 inbox_tray 📥 outbox_tray 📤
chart_with_upwards_trend 📈 chart_with_downwards_trend 📉 bar_chart 📊 computer 💻 iphone 📱 telephone_receiver 📞 battery 🔋
floppy_disk 💾 camera 📷 movie_camera 🎥 headphones 🎧 musical_note 🎵 books 📚 book 📖 newspaper 📰 moneybag 💰 coffee ☕ tea 🍵 beer 🍺
beers 🍻 wine_glass 🍷 champagne 🍾 cake 🍰 cookie 🍪 doughnut 🍩 pizza 🍕 hamburger 🍔 taco 🌮 popcorn 🍿 apple 🍎 banana 🍌 sunny ☀️
cloud ☁️ rain_cloud 🌧️ snowflake ❄️ umbrella ☔ rainbow 🌈 crescent_moon 🌙 earth_africa 🌍 seedling 🌱 evergreen_tree 🌲
four_leaf_clover 🍀 rose 🌹 sunflower 🌻 cat 🐱 dog 🐶 penguin 🐧 owl 🦉 fish 🐟 whale 🐳 octopus 🐙 turtle 🐢 snail 🐌 unicorn_face 🦄
crab 🦀 parrot 🦜 see_no_evil 🙈 hear_no_evil 🙉 speak_no_evil 🙊 soon 🔜 new 🆕 sos 🆘 recycle ♻️ house 🏠 office 🏢`;

const words = LISTED.trim().split(/\s+/);
const BY_NAME = new Map(words.flatMap((name, at) => (at % 2 === 0 ? [[name, words[at + 1] ?? '']] : [])));

/** Undefined: the name is unknown. */
export const emojiNamed = (name: string): string | undefined => BY_NAME.get(name);

/** Emoji whose names contain the text; those that start with it come first. */
export function findEmoji(written: string, max: number): readonly (readonly [string, string])[] {
	const all = [...BY_NAME].filter(([name]) => name.includes(written));
	const rankOf = (name: string): number => Number(!name.startsWith(written));
	return all.sort(([a], [b]) => rankOf(a) - rankOf(b) || a.length - b.length).slice(0, max) as [
		string,
		string,
	][];
}
